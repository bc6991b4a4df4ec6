import { type FSWatcher, watch } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { limits } from '../../util/limits/limits.ts'

/** The text of a file, with a stamp that changes with every write. */
export interface FileText {
  readonly text: string
  readonly stamp: string
}

/** Options of {@link FileWatch}. */
export interface FileWatchOptions {
  /** Reads the file; rejects with an Error whose message is the reason. */
  readonly read: () => Promise<FileText>
  /**
   * Called after a change with the new text, or with the reason why the file cannot be read. Calls do not
   * overlap; the last one has the latest state.
   */
  readonly onChange: (found: FileText | Error) => void | Promise<void>
  /** Receives what `onChange` threw; by default it is printed to stderr. */
  readonly onError?: (error: unknown) => void
  /** Time in ms without a change before the file is read; by default the limit `configDebounceMs`. */
  readonly debounceMs?: number
  /** Polling interval in ms, used if the system reports no file events; by default the limit `configPollMs`. */
  readonly pollMs?: number
}

/** Watches a file, which need not exist. Call `open` first, and `close` at the end. */
export class FileWatch implements AsyncDisposable {
  readonly path: string
  readonly #options: FileWatchOptions
  readonly #watchers = new Map<string, FSWatcher>()
  /** The text applied last, and the text read last, which may be from a write in progress. */
  #applied: FileText | Error | undefined
  #seen: FileText | Error | undefined
  #timer: NodeJS.Timeout | undefined
  #poll: NodeJS.Timeout | undefined
  #reading: Promise<FileText | Error> | undefined
  #isReading = false
  #isStale = false
  #isClosed = false

  constructor(path: string, options: FileWatchOptions) {
    this.path = path
    this.#options = options
  }

  /** Starts to watch and then reads, so that no change is missed. Returns what was read. */
  async open(): Promise<FileText | Error> {
    await this.#watchFolders()
    const found = await this.#options.read().catch(asError)
    this.#applied = found
    this.#seen = found
    return found
  }

  /** Checks now whether the file has changed, for example on SIGHUP. */
  check(): void {
    this.#isStale = true
    if (this.#timer !== undefined || this.#isReading || this.#isClosed) return
    // Further events do not restart the timer: in a busy folder it would never fire.
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#readAgain()
    }, this.#options.debounceMs ?? limits.configDebounceMs.default)
  }

  /** Stops watching. `onChange` is not called any more; a call in progress is not awaited. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearInterval(this.#poll)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
    await this.#reading
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Watches the folder of the file, and that of its target if the file is a symbolic link. */
  async #watchFolders(): Promise<void> {
    const path = resolve(this.path)
    const real = await realpath(path).catch(() => path)
    if (this.#isClosed) return
    const folders = new Set([dirname(path), dirname(real)])
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder)
  }

  /**
   * Watches a folder instead of the file: editors replace a file, and a watch of the file would follow only the
   * old one. File names are ignored, because the file may change through another one, such as a link.
   */
  #watch(folder: string): void {
    try {
      const watcher = watch(folder, () => this.check())
      watcher.on('error', () => this.#pollInstead())
      this.#watchers.set(folder, watcher)
    } catch {
      this.#pollInstead()
    }
  }

  #pollInstead(): void {
    if (this.#isClosed) return
    const { pollMs = limits.configPollMs.default } = this.#options
    this.#poll ??= setInterval(() => this.check(), pollMs)
  }

  /** Never rejects. */
  async #readAgain(): Promise<void> {
    this.#isStale = false
    this.#isReading = true
    this.#reading = this.#options.read().catch(asError)
    const found = await this.#reading
    const isStable = isSame(found, this.#seen) && stampOf(found) === stampOf(this.#seen)
    this.#seen = found
    // A text counts only if it is read twice; otherwise a half-written file would be reported as invalid.
    if (!isStable) this.#isStale = true
    else if (!isSame(found, this.#applied)) await this.#apply(found)
    this.#isReading = false
    if (this.#isStale) this.check()
  }

  async #apply(found: FileText | Error): Promise<void> {
    this.#applied = found
    // If the folder was deleted with the file, its watch is dead, and a new folder may appear.
    if (found instanceof Error) this.#pollInstead()
    else await this.#watchFolders()
    if (this.#isClosed) return
    try {
      await this.#options.onChange(found)
    } catch (error) {
      const { onError = console.error } = this.#options
      onError(error)
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/** Whether two reads gave the same text, or the same failure. */
function isSame(one: FileText | Error, other: FileText | Error | undefined): boolean {
  if (other === undefined) return false
  return contentOf(one) === contentOf(other) && one instanceof Error === other instanceof Error
}

function contentOf(found: FileText | Error): string {
  return found instanceof Error ? found.message : found.text
}

function stampOf(found: FileText | Error | undefined): string {
  return found === undefined || found instanceof Error ? '' : found.stamp
}

import { type FSWatcher, watch } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { limits } from '../../util/limits/limits.ts'

/** The text of a file, and what tells one time it was written from another. */
export interface FileText {
  readonly text: string
  readonly stamp: string
}

/** How a file is watched. */
export interface FileWatchOptions {
  /** Reads it; rejects with an Error whose message says why it cannot be read. */
  readonly read: () => Promise<FileText>
  /**
   * Told of every change: the text now, or why there is none. It is not called again before it is done,
   * and hears of the last state.
   */
  readonly onChange: (found: FileText | Error) => void | Promise<void>
  /** Told what `onChange` threw. By default on stderr. */
  readonly onError?: (error: unknown) => void
  /** Time the file must stay the same; by default the limit `configQuietMs`. */
  readonly quietMs?: number
  /** For systems that cannot tell of changes: how often the file is looked at. */
  readonly pollMs?: number
}

/** A file that is being watched, be it there or not. To be opened before anything else, and closed. */
export class FileWatch implements AsyncDisposable {
  readonly path: string
  readonly #options: FileWatchOptions
  readonly #watchers = new Map<string, FSWatcher>()
  /** What was acted on last, and what was read last, which may be half of what is being written. */
  #applied: FileText | Error | undefined
  #seen: FileText | Error | undefined
  #timer: NodeJS.Timeout | undefined
  #poll: NodeJS.Timeout | undefined
  #reading: Promise<FileText | Error> | undefined
  #isLooking = false
  #isStale = false
  #isClosed = false

  constructor(path: string, options: FileWatchOptions) {
    this.path = path
    this.#options = options
  }

  /** Watches and reads, in this order, so that no change falls in between. Gives what was read. */
  async open(): Promise<FileText | Error> {
    await this.#watchFolders()
    const found = await this.#options.read().catch(asError)
    this.#applied = found
    this.#seen = found
    return found
  }

  /** Looks whether the file has changed, as a signal may ask for. */
  check(): void {
    this.#isStale = true
    if (this.#timer !== undefined || this.#isLooking || this.#isClosed) return
    // Not moved by further events: a folder that is never quiet must not keep changes from us.
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#look()
    }, this.#options.quietMs ?? limits.configQuietMs.default)
  }

  /** Ends the watching. `onChange` is not called any more; a call under way is not waited for. */
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

  /** Watches where the file can change: beside it, and beside the file that a link stands for. */
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
   * Watches a folder rather than the file: editors put a new file into the place of the old one, and
   * the old one is all that a watch of the file would know. Names are not looked at, because the file
   * may change by way of another one, as links do.
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
  async #look(): Promise<void> {
    this.#isStale = false
    this.#isLooking = true
    this.#reading = this.#options.read().catch(asError)
    const found = await this.#reading
    const isQuiet = isAlike(found, this.#seen) && stampOf(found) === stampOf(this.#seen)
    this.#seen = found
    // Found twice before it counts, or half a file would be told as a broken one.
    if (!isQuiet) this.#isStale = true
    else if (!isAlike(found, this.#applied)) await this.#apply(found)
    this.#isLooking = false
    if (this.#isStale) this.check()
  }

  async #apply(found: FileText | Error): Promise<void> {
    this.#applied = found
    // A folder that went with the file takes the watch along, and another one may come.
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

/** Whether two looks at a file found the same: the same text, or the same failure. */
function isAlike(one: FileText | Error, other: FileText | Error | undefined): boolean {
  if (other === undefined) return false
  return contentOf(one) === contentOf(other) && one instanceof Error === other instanceof Error
}

function contentOf(found: FileText | Error): string {
  return found instanceof Error ? found.message : found.text
}

function stampOf(found: FileText | Error | undefined): string {
  return found === undefined || found instanceof Error ? '' : found.stamp
}

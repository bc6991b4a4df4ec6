import { access, constants } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Log } from '../../observe/log/log.ts'
import { Pins } from '../../router/pins/pins.ts'
import type { PinFile, PinRecord } from '../../router/pins/records.ts'
import type { Router } from '../../router/router.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { printable } from '../../util/text/printable.ts'
import { UsageError } from '../exit.ts'
import { oneLine, type Terminal } from '../terminal.ts'
import { FileWatch } from '../watch/file-watch.ts'
import {
  isMissing,
  parsePins,
  pinText,
  readPinFile,
  unusablePinFile,
  withPinLock,
  writePinFile,
} from './pin-store.ts'

/** Applies changes of the pin file, and reports them. */
export interface PersistentPinsHost {
  /**
   * Applies the pins of the file and drops the `removed` ones. Returns the pins that changed. Rejects and
   * changes nothing if the file is invalid.
   */
  apply(file: unknown, removed: readonly PinRecord[]): Promise<readonly PinRecord[]>
  /** Called with the pins that were approved in the file. */
  onApproved(approved: readonly PinRecord[]): void
  /** Called with the pins that were removed from the file: those tools are pinned again as they are now. */
  onRemoved(removed: readonly PinRecord[]): void
  /** Called if the file cannot be read or used; the current pins stay in effect. */
  onError(error: unknown): void
  /** Called if the file cannot be written, once for each reason. Writing is tried again. */
  onUnsaved(error: unknown): void
  /** Called when the file was written after all. */
  onSaved(): void
}

/**
 * Pins that are stored in a file across restarts, together with the changes that need approval. Another process
 * may approve changes in the file, or remove pins from it, while this one is running. A pin created here since
 * the file was last read or written is kept: it cannot have been removed from the file.
 */
export class PersistentPins {
  readonly pins = new Pins()
  readonly #path: string
  readonly #debounceMs: number | undefined
  #host: PersistentPinsHost | undefined
  #watch: FileWatch | undefined
  /** Text of the file when it was last read or written here. */
  #text = ''
  /** Invalid text of the file. It is not overwritten, so that the user can repair it. */
  #invalid: string | undefined
  #writing: Promise<void> | undefined
  #isStale = false
  /** Why the file could not be written; undefined while it can. */
  #unsaved: string | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  readonly #retryMs: number
  #isClosed = false

  /** The times are for tests; by default the limits `configDebounceMs` and `pinRetryMs`. */
  constructor(path: string, debounceMs?: number, retryMs: number = limits.pinRetryMs.default) {
    this.#path = path
    this.#debounceMs = debounceMs
    this.#retryMs = retryMs
  }

  /** Reads the file; a missing file is empty. Throws a UsageError if it cannot be read or used. */
  async load(): Promise<void> {
    const text = await this.#read()
    if (text === '') return
    const file = parsePins(this.#path, text)
    try {
      await this.pins.import(file)
    } catch (cause) {
      throw unusablePinFile(this.#path, cause)
    }
    this.#text = text
  }

  /** Applies changes of the file from now on. Call it once, after `load`. */
  async startWatching(host: PersistentPinsHost): Promise<void> {
    this.#host = host
    this.#watch = new FileWatch(this.#path, {
      read: () => readPinFile(this.#path),
      onChange: async found => {
        if (found instanceof Error) return this.#reportError(found)
        const wasInvalid = this.#invalid !== undefined
        await this.#apply(found.text)
        if (wasInvalid) this.save()
      },
      onError: error => host.onError(error),
      debounceMs: this.#debounceMs,
    })
    await this.#watch.open()
  }

  /** Writes pins and pending changes, if they differ from the file. Concurrent calls share one write. */
  save(): void {
    this.#isStale = true
    this.#writing ??= this.#write()
  }

  /** Stops watching and waits for a pending write; one that has failed is tried once more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    if (this.#unsaved !== undefined) this.save()
    await this.#watch?.close()
    await this.#writing
  }

  async #read(): Promise<string> {
    try {
      return (await readPinFile(this.#path)).text
    } catch (error) {
      if (isMissing(error)) return ''
      throw error
    }
  }

  /** Applies text that another process wrote. Invalid text is reported and left alone. */
  async #apply(text: string): Promise<void> {
    if (text === this.#text || text === this.#invalid) return
    try {
      const file = parsePins(this.#path, text)
      const removed = removedFrom(this.#text, file)
      const changed = (await this.#host?.apply(file, removed)) ?? []
      this.#text = text
      this.#invalid = undefined
      if (changed.length + removed.length === 0) return
      this.#host?.onApproved(changed)
      this.#host?.onRemoved(removed)
      // A tool that has changed again since needs approval again, and the file must say so.
      this.save()
    } catch (error) {
      this.#invalid = text
      this.#reportError(error instanceof TypeError ? unusablePinFile(this.#path, error) : error)
    }
  }

  async #write(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      try {
        await withPinLock(this.#path, () => this.#writeLocked())
        this.#onSaved()
      } catch (error) {
        this.#onUnsaved(error)
      }
    }
    this.#writing = undefined
  }

  async #writeLocked(): Promise<void> {
    const found = await this.#read()
    // Another process may have approved a change that has not been applied here yet.
    if (found !== '') await this.#apply(found)
    if (found !== '' && found === this.#invalid) return
    const text = pinText(this.pins)
    if (text !== found) await writePinFile(this.#path, text)
    this.#text = text
    this.#invalid = undefined
  }

  #onSaved(): void {
    if (this.#unsaved !== undefined) this.#host?.onSaved()
    this.#unsaved = undefined
  }

  #onUnsaved(error: unknown): void {
    const reason = errorMessage(error)
    if (reason !== this.#unsaved) this.#host?.onUnsaved(error)
    this.#unsaved = reason
    clearTimeout(this.#retry)
    if (!this.#isClosed) this.#retry = setTimeout(() => this.save(), this.#retryMs).unref()
  }

  #reportError(error: unknown): void {
    this.#host?.onError(error)
  }
}

/** Returns the pins of the text `before` that the file no longer has, even if the file is otherwise invalid. */
function removedFrom(before: string, file: unknown): readonly PinRecord[] {
  const now = isRecord(file) && Array.isArray(file.pins) ? file.pins.filter(isRecord) : []
  const kept = new Set(now.map(({ server, tool }) => JSON.stringify([server, tool])))
  // The check: the text was accepted from the file, or written here.
  const { pins } = (before === '' ? { pins: [] } : JSON.parse(before)) as Pick<PinFile, 'pins'>
  return pins.filter(({ server, tool }) => !kept.has(JSON.stringify([server, tool])))
}

/** Opens a pin file. Throws a UsageError if its folder is not writable or the file is invalid. */
export async function openPinFile(path: string): Promise<PersistentPins> {
  const folder = dirname(resolve(path))
  await access(folder, constants.W_OK).catch(cause => {
    throw new UsageError(`--pins ${path}: the folder ${folder} is not writable`, { cause })
  })
  const pins = new PersistentPins(path)
  await pins.load()
  return pins
}

/**
 * Applies changes of the pin file to a router, and reports them on stderr. Failures to write go to `log`, if
 * there is one.
 */
export function routerPinsHost(
  router: Router,
  terminal: Terminal,
  log: Log | undefined,
): PersistentPinsHost {
  return {
    onUnsaved: error => {
      const reason = errorMessage(error)
      if (log === undefined) terminal.error(`the pins cannot be saved: ${printable(reason)}`)
      else log.write('error', 'pins not saved', { reason, retryInMs: limits.pinRetryMs.default })
    },
    onSaved: () => {
      if (log === undefined) terminal.note('the pins are saved')
      else log.write('info', 'pins saved')
    },
    apply: (file, removed) => router.importPins(file, { removed }),
    onApproved: approved => {
      for (const { server, tool } of approved) {
        const name = oneLine(`${server}/${tool}`, 200)
        if (router.pins.changeOf(server, tool) === undefined) terminal.note(`approved ${name}`)
        else terminal.error(`${name} has changed again since it was approved; review it again`)
      }
    },
    onRemoved: removed => {
      for (const { server, tool } of removed) {
        const name = oneLine(`${server}/${tool}`, 200)
        terminal.note(`removed the pin of ${name}; it is pinned again as it is now`)
      }
    },
    onError: error => {
      terminal.error(`the pins stay unchanged: ${printable(errorMessage(error))}`)
    },
  }
}

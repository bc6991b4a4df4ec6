import { Pins } from '../../router/pins/pins.ts'
import type { PinFile, PinRecord } from '../../router/pins/records.ts'
import { isRecord } from '../../util/record.ts'
import { FileWatch } from '../watch/file-watch.ts'
import {
  isMissing,
  parsePins,
  pinText,
  readPinFile,
  unusable,
  withPinLock,
  writePinFile,
} from './pin-store.ts'

/** Who is told of what becomes of the file. */
export interface KeptPinsHost {
  /**
   * Lets callers have what a file pins now, and forgets what was taken out of it. Gives what is pinned
   * otherwise than before; rejects, and changes nothing, where the file cannot be used.
   */
  adopt(file: unknown, removed: readonly PinRecord[]): Promise<readonly PinRecord[]>
  /** Told what was approved by way of the file. */
  onApproved(approved: readonly PinRecord[]): void
  /** Told whose pins were taken out of the file: those tools are pinned anew, as they are now. */
  onRemoved(removed: readonly PinRecord[]): void
  /** Told why the file cannot be read, used or written: then everything stays as it was. */
  onError(error: unknown): void
}

/**
 * How tools were defined when they were first seen, kept in a file over restarts, together with the
 * changes that wait for approval. Somebody else may approve them in the file while this one is open, and
 * take pins out of it. What was pinned here since the file was last read or written stays: it could not
 * have been there.
 */
export class KeptPins {
  readonly pins = new Pins()
  readonly #path: string
  readonly #quietMs: number | undefined
  #host: KeptPinsHost | undefined
  #watch: FileWatch | undefined
  /** What was in the file when it was last read or written here. */
  #text = ''
  /** A text that could not be used: for as long as the file has it, it is not written over. */
  #broken: string | undefined
  #writing: Promise<void> | undefined
  #isStale = false

  /** How long the file must stay the same to be read again may be said, for tests. */
  constructor(path: string, quietMs?: number) {
    this.#path = path
    this.#quietMs = quietMs
  }

  /** Reads what is there; a file that does not exist is an empty one. Throws a UsageError for any other. */
  async load(): Promise<void> {
    const text = await this.#read()
    if (text === '') return
    const file = parsePins(this.#path, text)
    try {
      await this.pins.import(file)
    } catch (cause) {
      throw unusable(this.#path, cause)
    }
    this.#text = text
  }

  /** From now on what somebody makes of the file holds at once. To be called once, after `load`. */
  async follow(host: KeptPinsHost): Promise<void> {
    this.#host = host
    this.#watch = new FileWatch(this.#path, {
      read: () => readPinFile(this.#path),
      onChange: async found => {
        if (found instanceof Error) return this.#complain(found)
        const wasBroken = this.#broken !== undefined
        await this.#take(found.text)
        if (wasBroken) this.save()
      },
      onError: error => host.onError(error),
      quietMs: this.#quietMs,
    })
    await this.#watch.open()
  }

  /** Writes what is pinned, and what waits for approval, unless the file says so. Calls that come together are one. */
  save(): void {
    this.#isStale = true
    this.#writing ??= this.#write()
  }

  /** Settles when what was to be saved is. Never rejects. */
  async close(): Promise<void> {
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

  /** Takes over what somebody else has written; tells, and leaves it alone, where it cannot be used. */
  async #take(text: string): Promise<void> {
    if (text === this.#text || text === this.#broken) return
    try {
      const file = parsePins(this.#path, text)
      const removed = removedFrom(this.#text, file)
      const taken = (await this.#host?.adopt(file, removed)) ?? []
      this.#text = text
      this.#broken = undefined
      if (taken.length + removed.length === 0) return
      this.#host?.onApproved(taken)
      this.#host?.onRemoved(removed)
      // What has changed again since waits for approval again, and the file is to say so.
      this.save()
    } catch (error) {
      this.#broken = text
      this.#complain(error instanceof TypeError ? unusable(this.#path, error) : error)
    }
  }

  async #write(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      try {
        await withPinLock(this.#path, () => this.#writeLocked())
      } catch (error) {
        this.#complain(error)
      }
    }
    this.#writing = undefined
  }

  async #writeLocked(): Promise<void> {
    const found = await this.#read()
    // Somebody may have approved something that has not been told here yet.
    if (found !== '') await this.#take(found)
    if (found !== '' && found === this.#broken) return
    const text = pinText(this.pins)
    if (text !== found) await writePinFile(this.#path, text)
    this.#text = text
    this.#broken = undefined
  }

  #complain(error: unknown): void {
    this.#host?.onError(error)
  }
}

/** The pins that a text had and a file has no more, whatever else may be wrong with the file. */
function removedFrom(before: string, file: unknown): readonly PinRecord[] {
  const now = isRecord(file) && Array.isArray(file.pins) ? file.pins.filter(isRecord) : []
  const kept = new Set(now.map(({ server, tool }) => JSON.stringify([server, tool])))
  // The check: the text was taken over from the file, or written here.
  const { pins } = (before === '' ? { pins: [] } : JSON.parse(before)) as Pick<PinFile, 'pins'>
  return pins.filter(({ server, tool }) => !kept.has(JSON.stringify([server, tool])))
}

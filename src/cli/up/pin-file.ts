import { readFile, rename, writeFile } from 'node:fs/promises'
import { Pins } from '../../router/pins.ts'
import { UsageError } from '../exit.ts'

/**
 * How tools were defined when they were first seen, kept in a file over restarts. A tool is taken anew
 * when its entry is removed from the file.
 */
export class PinFile {
  readonly pins = new Pins()
  readonly #path: string
  readonly #onError: (error: unknown) => void
  #writing: Promise<void> | undefined
  #isStale = false

  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path
    this.#onError = onError
  }

  /** Reads what is there; a file that does not exist is an empty one. Throws a UsageError for any other. */
  async load(): Promise<void> {
    let text: string
    try {
      text = await readFile(this.#path, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
      throw new UsageError(`the pins in ${this.#path} cannot be read`, { cause: error })
    }
    try {
      await this.pins.import(JSON.parse(text))
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new UsageError(`the pins in ${this.#path} cannot be used: ${why}`, { cause })
    }
  }

  /** Writes what is pinned now. Calls that come together are one. */
  save(): void {
    this.#isStale = true
    this.#writing ??= this.#write()
  }

  /** Settles when what was to be saved is. Never rejects. */
  async close(): Promise<void> {
    await this.#writing
  }

  async #write(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      try {
        // Another file first, so that nobody ever finds half of it.
        const draft = `${this.#path}.new`
        await writeFile(draft, `${JSON.stringify(this.pins.export(), null, 2)}\n`)
        await rename(draft, this.#path)
      } catch (error) {
        this.#onError(error)
      }
    }
    this.#writing = undefined
  }
}

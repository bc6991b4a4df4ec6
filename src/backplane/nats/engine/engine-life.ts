import { randomHex } from '../../../util/random.ts'
import type { RunCommand } from '../../remote/connection.ts'
import { EngineLives } from '../../remote/engine-lives.ts'
import { lastMessage, storeMessage } from './jetstream.ts'
import type { RawNats } from './raw-connection.ts'
import { isConflict } from './reply-errors.ts'
import type { NatsSubjects } from './subjects.ts'

/** The random text of an engine's life, by which a backplane notices that the engine was emptied. */
export class EngineLife {
  readonly #subjects: NatsSubjects
  readonly #onEmptied: () => void
  readonly #lives = new EngineLives()

  constructor(subjects: NatsSubjects, onEmptied: () => void) {
    this.#subjects = subjects
    this.#onEmptied = onEmptied
  }

  /** Reads the text, and stores one if there is none. Calls `onEmptied` if it is another one than before. */
  async check(run: RunCommand<RawNats>): Promise<void> {
    const { documents, born } = this.#subjects
    const read = () => run(raw => lastMessage(raw, documents, born))
    const found = await read()
    const text = found === undefined ? await this.#store(run) : found.text
    const known = text ?? (await read())?.text
    if (known !== undefined && this.#lives.notice(born, known)) this.#onEmptied()
  }

  /** Stores a new text; resolves to undefined if another node did so first. */
  async #store(run: RunCommand<RawNats>): Promise<string | undefined> {
    const text = randomHex(8)
    const message = { subject: this.#subjects.born, text, until: Number.POSITIVE_INFINITY }
    try {
      await run(raw => storeMessage(raw, message, 0))
      return text
    } catch (error) {
      if (isConflict(error)) return undefined
      throw error
    }
  }
}

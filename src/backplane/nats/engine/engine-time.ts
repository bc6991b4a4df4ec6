import { systemClock } from '../../../util/time/clock.ts'
import { BackplaneError } from '../../backplane-error.ts'
import type { RunCommand } from '../../remote/connection.ts'
import type { Moment } from '../../rules/moment.ts'
import { lastMessage, storeMessage } from './jetstream.ts'
import type { RawNats } from './raw-connection.ts'
import type { NatsSubjects } from './subjects.ts'

/**
 * The clock of the engine. NATS has no command for the time, but stores it with each message. So this measures how far
 * the clock of the engine is from the monotonic clock of this process, to within the time of the measurement.
 */
export class EngineTime {
  readonly #subjects: NatsSubjects
  /** What to add to the clock of this process, at least and at most; undefined before the first measurement. */
  #offset: Moment | undefined

  constructor(subjects: NatsSubjects) {
    this.#subjects = subjects
  }

  /** Measures the time of the engine. */
  async measure(run: RunCommand<RawNats>): Promise<void> {
    const { documents, time } = this.#subjects
    const started = systemClock.now()
    const message = { subject: time, text: '', until: Number.POSITIVE_INFINITY }
    await run(raw => storeMessage(raw, message))
    // Another node may have stored one since, which is just as good.
    const stored = await run(raw => lastMessage(raw, documents, time))
    if (stored === undefined) throw new BackplaneError('down', 'the engine was just emptied')
    const { storedAt } = stored
    this.#offset = { least: storedAt - systemClock.now(), most: storedAt - started }
  }

  /** Returns the present time of the engine. */
  moment(): Moment {
    if (this.#offset === undefined) {
      throw new BackplaneError('down', 'there was no connection to the engine yet')
    }
    const { least, most } = this.#offset
    const now = systemClock.now()
    return { least: now + least, most: now + most }
  }
}

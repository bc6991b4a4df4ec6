import { limits } from '../../util/limits/limits.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'
import type { Documents } from './documents.ts'
import type { NatsConnection } from './engine/connection.ts'
import type { EngineTime } from './engine/engine-time.ts'
import {
  endScan,
  nextMessages,
  purgeSubject,
  removeMessage,
  type StoredMessage,
  startScan,
} from './engine/jetstream.ts'
import type { NatsStream, NatsSubjects } from './engine/subjects.ts'

/** What a sweeper needs. */
export interface SweeperOptions {
  readonly connection: NatsConnection
  /** The document by which nodes take turns. */
  readonly turns: Documents<null>
  readonly subjects: NatsSubjects
  readonly time: EngineTime
  readonly clock: Clock
}

/** The messages that are looked at together. */
const page = 500

/** Removes from an engine what has ended, because it does not do that by itself. One node of a cluster does it at a time. */
export class Sweeper {
  readonly #options: SweeperOptions
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  /** Sweeps again and again until `close` is called. */
  start(): void {
    if (this.#timer !== undefined || this.#isClosed) return
    this.#timer = this.#options.clock.start(() => {
      void this.#run()
    }, limits.natsSweepMs.default)
    this.#timer.unref()
  }

  close(): void {
    this.#isClosed = true
    if (this.#timer !== undefined) this.#options.clock.stop(this.#timer)
  }

  async #run(): Promise<void> {
    const { connection, time, subjects } = this.#options
    try {
      // Clocks drift.
      await time.measure(command => connection.run(command))
      if (await this.#isMyTurn()) {
        await this.#sweep(subjects.documents, ended =>
          connection.run(raw => removeMessage(raw, subjects.documents, ended.sequence)),
        )
        await this.#sweep(subjects.logs, ({ subject, sequence }) =>
          connection.run(raw => purgeSubject(raw, subjects.logs, subject, sequence + 1)),
        )
      }
    } catch {
      // The next time is soon enough.
    }
    this.#timer = undefined
    this.start()
  }

  /** Resolves to whether no node has swept for a while. */
  #isMyTurn(): Promise<boolean> {
    const { turns, subjects } = this.#options
    return turns.update<boolean>(subjects.sweep, (document, { most }) => {
      if (document !== undefined) return { result: false }
      return { result: true, next: { value: null, until: most + limits.natsSweepMs.default / 2 } }
    })
  }

  async #sweep(stream: NatsStream, remove: (ended: StoredMessage) => Promise<void>): Promise<void> {
    const { connection, time } = this.#options
    const range = { subject: stream.subjects, isWithoutText: true }
    const scan = await connection.run(raw => startScan(raw, stream, range))
    let messages: readonly StoredMessage[]
    do {
      messages = await connection.run(raw => nextMessages(raw, scan, page))
      const { least } = time.moment()
      await Promise.all(messages.filter(({ until }) => until <= least).map(remove))
    } while (messages.length > 0)
    await connection.run(raw => endScan(raw, scan))
  }
}

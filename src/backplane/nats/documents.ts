import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, type Timed, timed } from '../../util/time/deadline.ts'
import { BackplaneError } from '../backplane-error.ts'
import type { Moment } from '../rules/moment.ts'
import type { NatsConnection } from './engine/connection.ts'
import type { EngineTime } from './engine/engine-time.ts'
import { lastMessage, type StoredMessage, storeMessage } from './engine/jetstream.ts'
import { isConflict } from './engine/reply-errors.ts'
import type { NatsStream } from './engine/subjects.ts'

/** What documents need. */
export interface DocumentsOptions<V> {
  readonly codec: Codec<V>
  readonly connection: NatsConnection
  readonly stream: NatsStream
  readonly time: EngineTime
  /** The deadlines of operations. */
  readonly deadlines: Deadlines
}

/** The state of a subject: its last message. */
export interface Document<V> {
  readonly value: V
  readonly until: number
  /** The number of the message; 0 if the rules that ran before this one have made it, and it is not stored yet. */
  readonly sequence: number
}

/** How values are written as texts. */
export interface Codec<V> {
  parse(text: string): V
  format(value: V): string
}

/** Returns a codec for values that only this backplane writes. */
export function jsonTexts<V>(): Codec<V> {
  // The check: what is parsed was formatted by the same codec.
  return { parse: text => JSON.parse(text) as V, format: value => JSON.stringify(value) }
}

/** What a rule returns: its result, and the next state; without one, the present state stays. */
export interface DocumentChange<V, T> {
  readonly result: T
  readonly next?: Omit<Document<V>, 'sequence'>
}

/**
 * Decides what becomes of a document, which is undefined if there is none or its time is over. It may run several
 * times, and has no effect but what it returns. If it throws, the operation rejects with that.
 */
export type DocumentRule<V, T> = (
  document: Document<V> | undefined,
  moment: Moment,
) => DocumentChange<V, T>

/** An operation that waits for its turn, or for the engine. */
interface Operation<V> {
  /** Runs the rule. Returns how to settle the operation once the outcome is stored, and the next state. */
  apply(
    document: Document<V> | undefined,
    moment: Moment,
  ): { settle(): void; next?: Omit<Document<V>, 'sequence'> }
  reject(error: unknown): void
  isStarted: boolean
  isSettled: boolean
}

/**
 * Documents in a stream. An operation reads the last message of a subject and stores the next one only if no other has
 * been stored since; otherwise it starts again. Operations of this process on the same subject share both steps.
 */
export class Documents<V> {
  readonly #options: DocumentsOptions<V>
  readonly #queues = new Map<string, Operation<V>[]>()

  constructor(options: DocumentsOptions<V>) {
    this.#options = options
  }

  /** Returns a document unless its time is over. `timeoutMs` is what remains of the deadline of an operation. */
  async get(subject: string, timeoutMs?: number): Promise<Document<V> | undefined> {
    return this.#documentOf(await this.#last(subject, timeoutMs), this.#options.time.moment())
  }

  /** Changes a document by a rule. `timeoutMs` is what remains of the deadline of an operation. */
  update<T>(
    subject: string,
    rule: DocumentRule<V, T>,
    timeoutMs: number = limits.engineMs.default,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        operation.isSettled = true
        this.#options.deadlines.stop(deadline)
      }
      const operation: Operation<V> = {
        isStarted: false,
        isSettled: false,
        apply: (document, moment) => {
          const { result, next } = rule(document, moment)
          const done = () => {
            settle()
            resolve(result)
          }
          return next === undefined ? { settle: done } : { settle: done, next }
        },
        reject: error => {
          settle()
          reject(error)
        },
      }
      const deadline: Timed = timed(() => operation.reject(this.#lateError(operation)))
      this.#options.deadlines.start(deadline, timeoutMs)
      const queue = this.#queues.get(subject)
      if (queue !== undefined) return void queue.push(operation)
      this.#queues.set(subject, [operation])
      void this.#run(subject)
    })
  }

  async #run(subject: string): Promise<void> {
    for (;;) {
      const operations = this.#queues.get(subject)?.splice(0) ?? []
      if (operations.length === 0) break
      await this.#commit(subject, operations)
    }
    this.#queues.delete(subject)
  }

  /** Executes operations together, again and again until no other process interferes. Never rejects. */
  async #commit(subject: string, all: readonly Operation<V>[]): Promise<void> {
    for (const operation of all) operation.isStarted = true
    const waiting = () => all.filter(operation => !operation.isSettled)
    try {
      while (waiting().length > 0) {
        const last = await this.#last(subject)
        const moment = this.#options.time.moment()
        let state = this.#documentOf(last, moment)
        let next: Document<V> | undefined
        const outcomes: (() => void)[] = []
        for (const operation of waiting()) {
          try {
            const outcome = operation.apply(state, moment)
            outcomes.push(() => outcome.settle())
            if (outcome.next !== undefined) {
              next = { ...outcome.next, sequence: 0 }
              state = next.until > moment.least ? next : undefined
            }
          } catch (error) {
            outcomes.push(() => operation.reject(error))
          }
        }
        if (next === undefined || (await this.#isStored(subject, next, last?.sequence ?? 0))) {
          for (const settle of outcomes) settle()
          return
        }
      }
    } catch (error) {
      for (const operation of waiting()) operation.reject(error)
    }
  }

  #last(subject: string, timeoutMs?: number): Promise<StoredMessage | undefined> {
    const { connection, stream } = this.#options
    return connection.run(raw => lastMessage(raw, stream, subject), subject.length, timeoutMs)
  }

  #documentOf(last: StoredMessage | undefined, { least }: Moment): Document<V> | undefined {
    if (last === undefined || last.until <= least) return undefined
    const { text, until, sequence } = last
    return { value: this.#options.codec.parse(text), until, sequence }
  }

  /** Stores the next state; resolves to false if another one came first. */
  async #isStored(subject: string, { value, until }: Document<V>, after: number): Promise<boolean> {
    const { connection, codec } = this.#options
    const text = codec.format(value)
    connection.checkSize(text)
    try {
      await connection.run(raw => storeMessage(raw, { subject, text, until }, after), text.length)
      return true
    } catch (error) {
      if (isConflict(error)) return false
      throw error
    }
  }

  #lateError({ isStarted }: Operation<V>): BackplaneError {
    const { name } = this.#options.connection
    // One that still waits for others on the same subject has not been sent.
    return new BackplaneError(
      isStarted ? 'unknown' : 'down',
      `${name} did not reply in ${limits.engineMs.default} ms`,
    )
  }
}

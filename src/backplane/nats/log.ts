import type { Clock } from '../../util/time/clock.ts'
import { isAfter } from '../input-checks.ts'
import type { LogEntry, LogPage, LogPosition, LogRetention, SharedLog } from '../log.ts'
import type { Documents } from './documents.ts'
import type { NatsConnection } from './engine/connection.ts'
import {
  endScan,
  nextMessages,
  purgeSubject,
  type StoredMessage,
  startScan,
} from './engine/jetstream.ts'
import type { NatsSubjects } from './engine/subjects.ts'
import { appended, type FindEntry, fenced, type LogBatch, logTexts } from './log-messages.ts'
import { remainingMs } from './remaining-time.ts'

/** What a log needs. */
export interface NatsLogOptions {
  readonly connection: NatsConnection
  /** The documents of the stream of logs. */
  readonly documents: Documents<LogBatch>
  readonly subjects: NatsSubjects
  readonly clock: Clock
}

/** The messages of a log that are read at a time. */
const page = 100

/** Logs in an engine. Each append is a message, and the last message of a subject tells what is known of the log. */
export class NatsLog implements SharedLog {
  readonly #options: NatsLogOptions

  constructor(options: NatsLogOptions) {
    this.#options = options
  }

  async append(key: string, entries: readonly LogEntry[], retention: LogRetention): Promise<void> {
    if (entries.length === 0) return
    const leftMs = remainingMs(this.#options.clock)
    let find: FindEntry = () => 'unknown'
    let result = await this.#append(key, entries, retention, find, leftMs())
    if (result === undefined) {
      // Some were appended before, in messages before the last one.
      find = finder(await this.#messages(key, leftMs))
      result = await this.#append(key, entries, retention, find, leftMs())
    }
    const { before, after } = result ?? { before: 0, after: 0 }
    if (Math.floor(before / retention.max) === Math.floor(after / retention.max)) return
    // If this fails, the log is trimmed when it has grown by as much again.
    await this.#trim(key, retention.max, leftMs).catch(() => {})
  }

  async readAfter(key: string, position: LogPosition | undefined, max: number): Promise<LogPage> {
    const messages = await this.#messages(key, remainingMs(this.#options.clock))
    const [first] = messages
    if (first === undefined) return { entries: [], isComplete: position === undefined }
    const { before } = first.log
    const isBehind = (entry: LogEntry) => position === undefined || isAfter(entry, position)
    const entries = messages.flatMap(({ log }) => log.entries.filter(isBehind)).slice(0, max)
    const isComplete =
      before === undefined || (position !== undefined && !isAfter(before, position))
    return { entries, isComplete }
  }

  async delete(key: string): Promise<void> {
    const { connection, subjects } = this.#options
    await connection.run(raw => purgeSubject(raw, subjects.logs, subjects.log(key)))
  }

  /** Resolves to the epoch of the greatest position; to undefined if there is no log. */
  async epochOf(key: string, timeoutMs: number): Promise<number | undefined> {
    const { documents, subjects } = this.#options
    return (await documents.get(subjects.log(key), timeoutMs))?.value.last.epoch
  }

  /** Refuses entries of smaller epochs from now on. Resolves to the epoch of the greatest position. */
  fence(
    key: string,
    mark: { readonly epoch: number; readonly until: number },
    timeoutMs: number,
  ): Promise<number> {
    const { documents, subjects } = this.#options
    return documents.update(subjects.log(key), document => fenced(document, mark), timeoutMs)
  }

  #append(
    key: string,
    entries: readonly LogEntry[],
    retention: LogRetention,
    find: FindEntry,
    timeoutMs: number,
  ) {
    const { documents, subjects } = this.#options
    return documents.update(
      subjects.log(key),
      (document, moment) => appended(key, document, entries, retention, find, moment),
      timeoutMs,
    )
  }

  /** Resolves to the messages of a log, in order; to none if there is no log. */
  async #messages(key: string, leftMs: () => number): Promise<readonly ParsedMessage[]> {
    const { connection, documents, subjects } = this.#options
    const last = await documents.get(subjects.log(key), leftMs())
    if (last === undefined) return []
    const { sequence, value } = last
    const { start } = value
    if (start === 0) return [{ sequence, log: value }]
    const range = { subject: subjects.log(key), from: start }
    const scan = await connection.run(raw => startScan(raw, subjects.logs, range), 0, leftMs())
    const messages: StoredMessage[] = []
    try {
      let next: readonly StoredMessage[]
      do {
        next = await connection.run(raw => nextMessages(raw, scan, page), 0, leftMs())
        messages.push(...next)
      } while (next.length > 0 && (next.at(-1)?.sequence ?? 0) < sequence)
    } finally {
      // The engine also ends it by itself.
      connection.run(raw => endScan(raw, scan)).catch(() => {})
    }
    return messages.map(({ sequence: at, text }) => ({ sequence: at, log: logTexts.parse(text) }))
  }

  /** Removes messages from the start of a log, as long as enough entries are left. */
  async #trim(key: string, max: number, leftMs: () => number): Promise<void> {
    const { connection, subjects } = this.#options
    const messages = await this.#messages(key, leftMs)
    let left = messages.reduce((sum, { log }) => sum + log.entries.length, 0)
    const kept = messages.find(({ log }) => {
      left -= log.entries.length
      return left < max
    })
    if (kept === undefined || kept === messages[0]) return
    const { sequence } = kept
    await connection.run(
      raw => purgeSubject(raw, subjects.logs, subjects.log(key), sequence),
      0,
      leftMs(),
    )
  }
}

/** A message of a log, with its number in the stream. */
interface ParsedMessage {
  readonly sequence: number
  readonly log: LogBatch
}

/** Returns how to find entries in the messages of a log. */
function finder(messages: readonly ParsedMessage[]): FindEntry {
  const removed = messages[0]?.log.before
  const entries = messages.flatMap(({ log }) => log.entries)
  return ({ epoch, n }) => {
    if (removed !== undefined && !isAfter({ epoch, n }, removed)) return 'removed'
    return entries.find(entry => entry.epoch === epoch && entry.n === n)
  }
}

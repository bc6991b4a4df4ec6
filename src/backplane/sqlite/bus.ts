import { limits } from '../../util/limits/limits.ts'
import { randomHex } from '../../util/random.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'
import { LocalBus } from '../local/bus.ts'
import type { BusSubscriber, MessageBus } from '../message-bus.ts'
import type { SqlDatabase, SqlStatement } from './node-sqlite.ts'
import type { Transactions } from './transactions.ts'
import { countColumn, textColumn, toBytes } from './values.ts'

/** What a bus needs. */
export interface SqliteBusOptions {
  readonly database: SqlDatabase
  readonly transactions: Transactions
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The prefix of channels, so that several clusters can share a file. */
  readonly prefix: string
  /** Throws if the backplane cannot be used. */
  readonly checkUsable: () => void
}

/**
 * Messages through a table. Subscribers of this process get a message when it is committed. Other processes look for
 * changes of the file at an interval, as SQLite does not notify them.
 */
export class SqliteBus implements MessageBus {
  readonly #options: SqliteBusOptions
  readonly #local: LocalBus
  readonly #sender = randomHex(8)
  readonly #insert: SqlStatement
  readonly #newer: SqlStatement
  readonly #bounds: SqlStatement
  readonly #version: SqlStatement
  #timer: Timer | undefined
  #seenVersion: unknown
  /** The last message that was looked at; undefined while nobody subscribes. */
  #seenId: number | undefined

  constructor(options: SqliteBusOptions) {
    this.#options = options
    this.#local = new LocalBus(options.checkUsable)
    const { database } = options
    this.#insert = database.prepare(
      'INSERT INTO messages (sender, channel, text, until) VALUES (?, ?, ?, ?)',
    )
    this.#newer = database.prepare('SELECT * FROM messages WHERE id > ? ORDER BY id LIMIT 1000')
    this.#bounds = database.prepare(`
      SELECT (SELECT min(id) FROM messages) AS first,
        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0) AS last
    `)
    this.#version = database.prepare('PRAGMA data_version')
  }

  publish(channel: string, message: string): void {
    const { transactions, now, prefix, checkUsable } = this.#options
    checkUsable()
    const write = () => {
      const until = now() + limits.sqliteMessageMs.default
      this.#insert.run(this.#sender, toBytes(prefix + channel), toBytes(message), until)
    }
    transactions.runGrowing(write).then(
      () => this.#local.deliver(channel, message),
      // Other processes cannot learn of it, because the file cannot be written.
      () => this.#local.reportGap(),
    )
  }

  async subscribe(channel: string, subscriber: BusSubscriber): Promise<() => void> {
    const end = await this.#local.subscribe(channel, subscriber)
    this.#seenId ??= countColumn(this.#bounds.get()?.last)
    if (this.#timer === undefined) this.#schedule()
    return () => {
      end()
      if (this.#local.size === 0) this.#rest()
    }
  }

  close(): void {
    this.#local.clear()
    this.#rest()
  }

  #rest(): void {
    if (this.#timer !== undefined) this.#options.clock.stop(this.#timer)
    this.#timer = undefined
    this.#seenId = undefined
  }

  #schedule(): void {
    this.#timer = this.#options.clock.start(() => {
      this.#schedule()
      try {
        this.#look()
      } catch {
        // The file is busy; the next look finds the same messages.
      }
    }, limits.sqlitePollMs.default)
    this.#timer.unref()
  }

  /** Delivers the messages of other processes that are new. */
  #look(): void {
    const version = this.#version.get()?.data_version
    if (version === this.#seenVersion || this.#seenId === undefined) return
    const { first, last } = this.#bounds.get() ?? {}
    const oldest = first === null ? countColumn(last) + 1 : countColumn(first)
    if (oldest > this.#seenId + 1) {
      // Messages were deleted before they were looked at.
      this.#seenId = oldest - 1
      this.#local.reportGap()
    }
    const rows = this.#newer.all(this.#seenId)
    for (const row of rows) {
      this.#seenId = countColumn(row.id)
      const channel = textColumn(row.channel)
      const { prefix } = this.#options
      if (row.sender === this.#sender || !channel.startsWith(prefix)) continue
      this.#local.deliver(channel.slice(prefix.length), textColumn(row.text))
    }
    if (rows.length < 1000) this.#seenVersion = version
  }
}

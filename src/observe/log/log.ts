import { limits } from '../../util/limits/limits.ts'
import { events } from '../events.ts'
import { type LogFormat, type LogLine, type LogLineLevel, lineOf, severity } from './line.ts'

/** The part of a Node.js writable stream that a log needs. */
export interface LogStream {
  /** Whether the stream is a terminal. */
  readonly isTTY?: boolean
  /** Writes a text; returns false if the caller should wait for `drain`. */
  write(text: string): boolean
  /** Calls a listener at every event of this kind. */
  on(event: 'drain' | 'error', listener: () => void): unknown
  /** Stops calling a listener. */
  off(event: 'drain' | 'error', listener: () => void): unknown
}

/** Options of a log. */
export interface LogOptions {
  /** The lowest level to write; `info` by default. */
  readonly level?: LogLineLevel
  /** One JSON object per line, or text; by default text on a terminal and JSON elsewhere. */
  readonly format?: LogFormat
  /** Whether to color text; by default on a terminal, unless `NO_COLOR` is set. */
  readonly color?: boolean
  /** The stream to write to; stderr by default, because stdout belongs to the protocol. */
  readonly stream?: LogStream
  /** The number of lines to buffer while the stream is blocked. */
  readonly maxLines?: number
  /** Returns the current time; for tests. */
  readonly now?: () => Date
}

/**
 * Writes lines to stderr, each completely or not at all. While the stream is blocked, up to `maxLines` are
 * buffered; further ones are dropped, and their number is logged when the stream drains. Secrets are
 * redacted as far as their names show them.
 */
export class Log {
  readonly #level: number
  readonly #format: LogFormat
  readonly #isColored: boolean
  readonly #stream: LogStream
  readonly #maxLines: number
  readonly #now: () => Date
  readonly #buffer: string[] = []
  #isBlocked = false
  #isBroken = false
  #isClosed = false
  #dropped = 0
  #unreported = 0

  constructor(options: LogOptions = {}) {
    const { level = 'info', stream = process.stderr } = options
    this.#level = severity(level)
    this.#stream = stream
    this.#format = options.format ?? (stream.isTTY === true ? 'text' : 'json')
    const wantsColor = stream.isTTY === true && !process.env.NO_COLOR
    this.#isColored = this.#format === 'text' && (options.color ?? wantsColor)
    this.#maxLines = options.maxLines ?? limits.logLines.default
    this.#now = options.now ?? (() => new Date())
    stream.on('drain', this.#drain)
    stream.on('error', this.#fail)
  }

  /** The number of lines dropped so far. */
  get dropped(): number {
    return this.#dropped
  }

  /** Whether lines of this level are written. If not, callers need not build them. */
  writes(level: LogLineLevel): boolean {
    return severity(level) >= this.#level && !this.#isClosed
  }

  /** Writes a line. `what` is a short constant text; variable data goes into the fields. */
  write(level: LogLineLevel, what: string, fields: LogLine['fields'] = {}): void {
    if (!this.writes(level)) return
    if (events.logWritten.hasSubscribers) events.logWritten.publish({ level, what, fields })
    if (this.#buffer.length >= this.#maxLines) this.drop()
    else this.#send(this.#text(level, what, fields))
  }

  /** Counts a line that the caller decided not to write. */
  drop(): void {
    this.#dropped += 1
    this.#unreported += 1
  }

  /** Logs how many lines were dropped since the last report, if any were. */
  reportDropped(): void {
    if (this.#unreported === 0 || this.#isBlocked || this.#isClosed) return
    const lines = this.#unreported
    this.#unreported = 0
    this.#send(this.#text('warn', 'log lines dropped', { lines }))
  }

  /** Writes the buffered lines to the stream, and nothing afterwards. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.reportDropped()
    this.#isClosed = true
    // Written even if the stream is blocked: the stream buffers what it cannot write yet.
    for (const line of this.#buffer.splice(0)) if (!this.#isBroken) this.#stream.write(line)
    this.#stream.off('drain', this.#drain)
    this.#stream.off('error', this.#fail)
  }

  #text(level: LogLineLevel, what: string, fields: LogLine['fields']): string {
    const line = { time: this.#now(), level, what, fields }
    return lineOf(line, this.#format, this.#isColored)
  }

  #send(line: string): void {
    if (this.#isBlocked) this.#buffer.push(line)
    else this.#isBlocked = !this.#stream.write(line)
  }

  readonly #drain = (): void => {
    this.#isBlocked = this.#isBroken
    let sent = 0
    while (sent < this.#buffer.length && !this.#isBlocked) {
      this.#isBlocked = !this.#stream.write(this.#buffer[sent] ?? '')
      sent += 1
    }
    this.#buffer.splice(0, sent)
    this.reportDropped()
  }

  // The reader of stderr is gone, which is no reason to stop a server.
  readonly #fail = (): void => {
    this.#isBlocked = true
    this.#isBroken = true
  }
}

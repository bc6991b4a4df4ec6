import { limits } from '../../util/limits/limits.ts'
import { type LogFormat, type LogLevel, type LogLine, lineOf, severity } from './line.ts'

/** Where lines go: a stream of Node, of which this much is needed. */
export interface LogStream {
  /** Whether it is a terminal, where colours help. */
  readonly isTTY?: boolean
  /** Takes a text; false asks to wait for `drain`. */
  write(text: string): boolean
  on(event: 'drain' | 'error', listener: () => void): unknown
  off(event: 'drain' | 'error', listener: () => void): unknown
}

/** How a log is written. */
export interface LogOptions {
  /** The least severe lines that are written; `info` unless said. */
  readonly level?: LogLevel
  /** One JSON object per line, or text for people; text on a terminal and JSON elsewhere unless said. */
  readonly format?: LogFormat
  /** Whether text is coloured; on a terminal unless said, or unless `NO_COLOR` is set. */
  readonly colour?: boolean
  /** Where it goes: stderr unless said. Stdout belongs to the protocol. */
  readonly stream?: LogStream
  /** Lines that wait while the stream takes none. */
  readonly maxLines?: number
  /** The time of day, for tests. */
  readonly now?: () => Date
}

/**
 * Writes lines to stderr, each whole or not at all. While the stream takes none, so many wait; further
 * ones are dropped, and how many is told as soon as there is room. Secrets are left out as far as they
 * can be told by their names.
 */
export class Log {
  readonly #level: number
  readonly #format: LogFormat
  readonly #isColoured: boolean
  readonly #stream: LogStream
  readonly #maxLines: number
  readonly #now: () => Date
  readonly #waiting: string[] = []
  #isBlocked = false
  #isBroken = false
  #isClosed = false
  #dropped = 0
  #untold = 0

  constructor(options: LogOptions = {}) {
    const { level = 'info', stream = process.stderr } = options
    this.#level = severity(level)
    this.#stream = stream
    this.#format = options.format ?? (stream.isTTY === true ? 'text' : 'json')
    const likesColour = stream.isTTY === true && !process.env.NO_COLOR
    this.#isColoured = this.#format === 'text' && (options.colour ?? likesColour)
    this.#maxLines = options.maxLines ?? limits.logLines.default
    this.#now = options.now ?? (() => new Date())
    stream.on('drain', this.#drain)
    stream.on('error', this.#fail)
  }

  /** Lines that were dropped since the beginning. */
  get dropped(): number {
    return this.#dropped
  }

  /** Whether lines of this level are written: what is not need not be put together. */
  writes(level: LogLevel): boolean {
    return severity(level) >= this.#level && !this.#isClosed
  }

  /** Writes a line. `what` is a short sentence that never changes; what does goes into the fields. */
  write(level: LogLevel, what: string, fields: LogLine['fields'] = {}): void {
    if (!this.writes(level)) return
    if (this.#waiting.length >= this.#maxLines) this.drop()
    else this.#send(this.#text(level, what, fields))
  }

  /** Counts a line that somebody decided not to write. */
  drop(): void {
    this.#dropped += 1
    this.#untold += 1
  }

  /** Tells how many lines were dropped since that was last told, if any were. */
  tellDropped(): void {
    if (this.#untold === 0 || this.#isBlocked || this.#isClosed) return
    const lines = this.#untold
    this.#untold = 0
    this.#send(this.#text('warn', 'log lines dropped', { lines }))
  }

  /** Writes what waits, as far as the stream takes it, and nothing any more. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.tellDropped()
    this.#isClosed = true
    // Given to the stream in any case: it keeps what it cannot write yet.
    for (const line of this.#waiting.splice(0)) if (!this.#isBroken) this.#stream.write(line)
    this.#stream.off('drain', this.#drain)
    this.#stream.off('error', this.#fail)
  }

  #text(level: LogLevel, what: string, fields: LogLine['fields']): string {
    const line = { time: this.#now(), level, what, fields }
    return lineOf(line, this.#format, this.#isColoured)
  }

  #send(line: string): void {
    if (this.#isBlocked) this.#waiting.push(line)
    else this.#isBlocked = !this.#stream.write(line)
  }

  readonly #drain = (): void => {
    this.#isBlocked = this.#isBroken
    let sent = 0
    while (sent < this.#waiting.length && !this.#isBlocked) {
      this.#isBlocked = !this.#stream.write(this.#waiting[sent] ?? '')
      sent += 1
    }
    this.#waiting.splice(0, sent)
    this.tellDropped()
  }

  // Whoever read stderr has gone: that is no reason to end a server.
  readonly #fail = (): void => {
    this.#isBlocked = true
    this.#isBroken = true
  }
}

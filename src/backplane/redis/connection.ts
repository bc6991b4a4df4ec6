import { limits } from '../../util/limits/limits.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import type { Clock } from '../../util/time/clock.ts'
import { Deadlines, type Timed } from '../../util/time/deadline.ts'
import { type Sleep, sleep, withTimeout } from '../../util/time/sleep.ts'
import { BackplaneError, closedError } from '../backplane-error.ts'
import { EngineReplyError, type OpenRaw, type RawConnection } from './raw-connection.ts'
import { commandError, isMoved, needsNewConnection } from './reply-errors.ts'

/** What a connection needs. */
export interface ConnectionOptions {
  /** The name of the backplane, for messages. */
  readonly name: string
  readonly open: OpenRaw
  readonly clock: Clock
  /** Runs on each new connection after a `PING`; the connection is up once it resolves. */
  prepare?(connection: PreparedConnection): Promise<void>
  /** Called when the connection is up. */
  onUp(): void
  /** Called when an attempt to connect has failed. */
  onFailedAttempt(): void
  /** Whether keys that have moved to another engine end the connection, so that the next one leads there. */
  readonly followsKeys?: boolean
  /** Called when a connection that was up is lost. */
  onDown(error: unknown): void
}

/** A connection that is being prepared. Each of its commands has a deadline. */
export type PreparedConnection = Pick<RawConnection, 'send' | 'subscribe'>

interface PendingCommand extends Timed {
  readonly size: number
  /** Whether its deadline is over, and it waits for replies that have arrived to be read. */
  isLate: boolean
  readonly reject: (error: unknown) => void
}

/** The time to read replies that have arrived, after a deadline is over. */
const graceMs = 16

/**
 * A connection to an engine that is replaced when it fails. Every command settles within a deadline, whatever
 * state the engine is in, and is never sent twice.
 *
 * The package has timeouts, but they end when a command is written, and any write postpones the one of the
 * socket. So a stopped engine would never be noticed.
 */
export class RedisConnection {
  readonly #options: ConnectionOptions
  readonly #deadlines: Deadlines
  readonly #pending = new Set<PendingCommand>()
  #pendingBytes = 0
  #raw: RawConnection | undefined
  #isUp = false
  #isClosed = false
  /** Deadlines that were missed since the last reply. */
  #missed = 0
  #pause: Sleep | undefined
  #lastError: unknown

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.clock)
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Why the last connection, or attempt to connect, failed. */
  get lastError(): unknown {
    return this.#lastError
  }

  /** Connects, and goes on until `close` is called. Call it once. */
  async start(): Promise<void> {
    for (let attempt = 0; !this.#isClosed; attempt++) {
      if (await this.#connect()) return
      const delayMs = backoffMs(attempt, {
        baseMs: 50,
        maxMs: limits.engineRetryMs.default,
        jitter: 0.5,
      })
      this.#pause = sleep(delayMs, this.#options.clock)
      await this.#pause.done
    }
  }

  /** Sends a command. `timeoutMs` is what remains of the deadline of an operation. */
  send(args: readonly string[], timeoutMs: number = limits.engineMs.default): Promise<unknown> {
    const size = args.reduce((sum, arg) => sum + arg.length, 0)
    return this.#run(raw => raw.send(args), size, timeoutMs)
  }

  /** Subscribes to a channel on the present connection; a new connection knows nothing of it. */
  subscribe(channel: string, listener: (text: string) => void): Promise<void> {
    return this.#run(raw => raw.subscribe(channel, listener), channel.length)
  }

  /** Ends the subscription to a channel on the present connection. */
  unsubscribe(channel: string): Promise<void> {
    return this.#run(raw => raw.unsubscribe(channel), channel.length)
  }

  /** Replaces the connection. */
  replace(error: unknown): void {
    if (this.#raw !== undefined) this.#lose(this.#raw, error)
  }

  /** Closes the connection. Commands in flight reject with `unknown`. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const raw = this.#raw
    this.#raw = undefined
    this.#isUp = false
    raw?.destroy()
    this.#pause?.wake()
    this.#failPending(new Error('the backplane was closed'))
    this.#deadlines.rest()
  }

  async #connect(): Promise<boolean> {
    const { open, clock, prepare, onUp } = this.#options
    const raw = open(error => this.#lose(raw, error))
    this.#raw = raw
    this.#missed = 0
    try {
      let failure: unknown
      const isInTime = await withTimeout(limits.engineConnectMs.default, clock, done => {
        const fail = (error: unknown) => {
          failure = error
          done()
        }
        raw.connect().then(done, fail)
      })
      if (!isInTime) throw new Error(`no connection in ${limits.engineConnectMs.default} ms`)
      if (failure !== undefined) throw failure
      const send = (args: readonly string[]) => this.#track(raw, raw.send(args), 0)
      await send(['PING'])
      await prepare?.({
        send,
        subscribe: (channel, listener) => this.#track(raw, raw.subscribe(channel, listener), 0),
      })
      if (this.#raw !== raw) throw this.#lastError
    } catch (error) {
      this.#lastError = error
      if (this.#raw === raw) this.#raw = undefined
      raw.destroy()
      this.#options.onFailedAttempt()
      return false
    }
    this.#isUp = true
    onUp()
    return true
  }

  #run<T>(
    start: (raw: RawConnection) => Promise<T>,
    size: number,
    timeoutMs: number = limits.engineMs.default,
  ): Promise<T> {
    const raw = this.#raw
    if (this.#isClosed) return Promise.reject(closedError(this.#options.name))
    if (raw === undefined || !this.#isUp) return Promise.reject(this.#downError())
    const isTooMuch =
      this.#pending.size >= limits.enginePending.default ||
      (this.#pending.size > 0 && this.#pendingBytes + size > limits.enginePendingBytes.default)
    if (isTooMuch) {
      return Promise.reject(
        new BackplaneError('down', `too many commands are in flight to ${this.#options.name}`),
      )
    }
    return this.#track(raw, start(raw), size, timeoutMs)
  }

  /** Settles as the work does, or with an error at the deadline or when the connection is lost. */
  #track<T>(
    raw: RawConnection,
    work: Promise<T>,
    size: number,
    timeoutMs: number = limits.engineMs.default,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending: PendingCommand = {
        size,
        isLate: false,
        reject,
        previous: undefined,
        next: undefined,
        expire: () => this.#expire(raw, pending),
      }
      this.#pending.add(pending)
      this.#pendingBytes += size
      this.#deadlines.start(pending, timeoutMs)
      work.then(
        reply => {
          if (this.#raw === raw) this.#missed = 0
          if (this.#settle(pending)) resolve(reply)
        },
        error => {
          if (this.#raw === raw && error instanceof EngineReplyError) this.#missed = 0
          if (this.#settle(pending)) reject(commandError(error))
          if (this.#isUseless(error)) this.#lose(raw, error)
        },
      )
    })
  }

  #expire(raw: RawConnection, pending: PendingCommand): void {
    if (!pending.isLate) {
      // After this process was busy, timers run before the replies are read that have long arrived.
      pending.isLate = true
      this.#deadlines.start(pending, graceMs)
      return
    }
    if (!this.#settle(pending)) return
    const message = `${this.#options.name} did not reply in ${limits.engineMs.default} ms`
    const error = new BackplaneError('unknown', message)
    pending.reject(error)
    if (this.#raw === raw && ++this.#missed >= 2) this.#lose(raw, error)
  }

  /** Returns whether a command was still in flight; it is not afterwards. */
  #settle(pending: PendingCommand): boolean {
    if (!this.#pending.delete(pending)) return false
    this.#pendingBytes -= pending.size
    this.#deadlines.stop(pending)
    return true
  }

  #lose(raw: RawConnection, error: unknown): void {
    if (this.#raw !== raw) return
    this.#raw = undefined
    this.#lastError = error
    raw.destroy()
    this.#failPending(error)
    if (!this.#isUp) return
    this.#isUp = false
    this.#options.onDown(error)
    if (!this.#isClosed) void this.start()
  }

  #isUseless(error: unknown): boolean {
    if (needsNewConnection(error)) return true
    return this.#options.followsKeys === true && isMoved(error)
  }

  #failPending(error: unknown): void {
    for (const pending of [...this.#pending]) {
      if (this.#settle(pending)) pending.reject(commandError(error))
    }
  }

  #downError(): BackplaneError {
    const { name } = this.#options
    const last = this.#lastError instanceof Error ? `: ${this.#lastError.message}` : ''
    return new BackplaneError('down', `there is no connection to ${name}${last}`, {
      cause: this.#lastError,
    })
  }
}

import { limits } from '../../util/limits/limits.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import type { Clock } from '../../util/time/clock.ts'
import { Deadlines, type Timed } from '../../util/time/deadline.ts'
import { type Sleep, sleep, withTimeout } from '../../util/time/sleep.ts'
import { BackplaneError, closedError } from '../backplane-error.ts'

/** One connection to an engine, as a client package makes it. It is never used again once it failed. */
export interface RawRemote {
  /** Connects and authenticates. */
  connect(): Promise<void>
  /** Closes the connection at once. Idempotent. */
  destroy(): void
}

/** What the errors of an engine mean. */
export interface RemoteErrors {
  /** Converts what a command rejected with to a BackplaneError. */
  commandError(error: unknown): BackplaneError
  /** Returns whether the engine has received a command and answered it with an error. */
  isReply(error: unknown): boolean
  /** Returns whether only another connection can help. */
  needsNewConnection(error: unknown): boolean
}

/** What a connection needs. */
export interface RemoteConnectionOptions<Raw extends RawRemote> {
  /** The name of the backplane, for messages. */
  readonly name: string
  readonly clock: Clock
  readonly errors: RemoteErrors
  /** Makes a connection, and calls `onLost` when it fails. */
  open(onLost: (error: unknown) => void): Raw
  /** Runs on each new connection; it is up once this resolves. Each command has a deadline. */
  prepare(run: RunCommand<Raw>): Promise<void>
  /** Called when the connection is up. */
  onUp(): void
  /** Called when an attempt to connect has failed. */
  onFailedAttempt(): void
  /** Called when a connection that was up is lost. */
  onDown(error: unknown): void
}

/** Runs a command on a connection; it rejects with a BackplaneError. */
export type RunCommand<Raw> = <T>(command: (raw: Raw) => Promise<T>) => Promise<T>

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
 */
export class RemoteConnection<Raw extends RawRemote> {
  readonly #options: RemoteConnectionOptions<Raw>
  readonly #deadlines: Deadlines
  readonly #pending = new Set<PendingCommand>()
  #pendingBytes = 0
  #raw: Raw | undefined
  #isUp = false
  #isClosed = false
  /** Deadlines that were missed since the last reply. */
  #missed = 0
  #pause: Sleep | undefined
  #lastError: unknown

  constructor(options: RemoteConnectionOptions<Raw>) {
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
      if (await this.#connect(attempt)) return
      const delayMs = backoffMs(attempt, {
        baseMs: 50,
        maxMs: limits.engineRetryMs.default,
        jitter: 0.5,
      })
      this.#pause = sleep(delayMs, this.#options.clock)
      await this.#pause.done
    }
  }

  /** Runs a command of a size. `timeoutMs` is what remains of the deadline of an operation. */
  run<T>(
    command: (raw: Raw) => Promise<T>,
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
    return this.#track(raw, command(raw), size, timeoutMs)
  }

  /** Sends something that has no reply. Returns false if there is no connection. */
  send(message: (raw: Raw) => void): boolean {
    if (this.#raw === undefined || !this.#isUp) return false
    message(this.#raw)
    return true
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

  async #connect(attempt: number): Promise<boolean> {
    const { open, clock, prepare, onUp } = this.#options
    const raw = open(error => this.#lose(raw, error))
    this.#raw = raw
    this.#missed = 0
    try {
      let failure: unknown
      const timeoutMs = connectMs(attempt)
      const isInTime = await withTimeout(timeoutMs, clock, done => {
        const fail = (error: unknown) => {
          failure = error
          done()
        }
        raw.connect().then(done, fail)
      })
      if (!isInTime) throw new Error(`no connection in ${timeoutMs} ms`)
      if (failure !== undefined) throw failure
      await prepare(command => this.#track(raw, command(raw), 0))
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

  /** Settles as the work does, or with an error at the deadline or when the connection is lost. */
  #track<T>(
    raw: Raw,
    work: Promise<T>,
    size: number,
    timeoutMs: number = limits.engineMs.default,
  ): Promise<T> {
    const { errors } = this.#options
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
          if (this.#raw === raw && errors.isReply(error)) this.#missed = 0
          if (this.#settle(pending)) reject(errors.commandError(error))
          if (errors.needsNewConnection(error)) this.#lose(raw, error)
        },
      )
    })
  }

  #expire(raw: Raw, pending: PendingCommand): void {
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

  #lose(raw: Raw, error: unknown): void {
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

  #failPending(error: unknown): void {
    for (const pending of [...this.#pending]) {
      if (this.#settle(pending)) pending.reject(this.#options.errors.commandError(error))
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

/**
 * Returns the time for an attempt to connect, counted from 0. It grows, because an engine behind a slow network, or on a
 * busy machine, would otherwise never be reached.
 */
function connectMs(attempt: number): number {
  return Math.min(limits.engineConnectMs.default * 2 ** attempt, limits.engineConnectMaxMs.default)
}

import { ChannelError } from '../../jsonrpc/channel.ts'
import { outsideTraces } from '../../mcp/trace-context.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import { timed } from '../../util/time/deadline.ts'
import type { ReconnectPolicy, Settings } from '../settings.ts'
import type { Connection } from './connection.ts'
import type { Negotiated } from './negotiate.ts'

/** Callbacks of a reconnecting connection. */
export interface ReconnectHandlers {
  /** Opens a connection; gives up when the signal is aborted. */
  open(signal: AbortSignal): Promise<Negotiated>
  /** A new connection has replaced a lost one. */
  onReopened(opened: Negotiated): void
  /** There is no connection, and none will be opened any more. */
  onClosed(cause: Error | undefined): void
}

/**
 * Keeps a connection to a server open: when it is lost, opens another one, with exponential backoff and
 * at most `reconnect.attempts` times in a row.
 */
export class ReconnectingConnection {
  /** Settles when no connection will be opened any more; with the cause, unless `close` was called. */
  readonly closed: Promise<Error | undefined>
  readonly #host: ReconnectHandlers
  readonly #settings: Settings
  readonly #gone = new AbortController()
  readonly #settleClosed: (cause: Error | undefined) => void
  #current: Negotiated
  #since: number
  /** Replaced connections with requests in flight. They close when the last one is answered. */
  readonly #retired = new Set<Connection>()
  /** Awaited by requests that are made while there is no connection. */
  #reopening: Deferred<Negotiated> | undefined
  #attempting: Promise<void> | undefined
  #attempts = 0
  #failure: ChannelError | undefined

  constructor(first: Negotiated, host: ReconnectHandlers, settings: Settings) {
    this.#host = host
    this.#settings = settings
    this.#current = first
    this.#since = settings.clock.now()
    const closed = deferred<Error | undefined>()
    this.closed = closed.promise
    this.#settleClosed = closed.resolve
  }

  /** The most recent connection, open or not. */
  get latest(): Negotiated {
    return this.#current
  }

  get isClosed(): boolean {
    return this.#failure !== undefined
  }

  /** Aborted when no connection will be opened any more. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /**
   * Returns the connection if there is one, or else a promise of the next one. Throws or rejects with a
   * ChannelError `'closed'` once there will be none.
   */
  ready(): Negotiated | Promise<Negotiated> {
    if (this.#failure !== undefined) throw this.#failure
    return this.#reopening === undefined ? this.#current : this.#reopening.promise
  }

  /** Must be called when a connection was lost. */
  onLost(connection: Connection, cause: Error | undefined): void {
    if (connection !== this.#current.connection || this.#reopening !== undefined || this.isClosed)
      return
    const { clock, reconnect } = this.#settings
    if (clock.now() - this.#since >= reconnect.stableMs) this.#attempts = 0
    const reopening = deferred<Negotiated>()
    // There may be no request that awaits it.
    reopening.promise.then(undefined, () => {})
    this.#reopening = reopening
    this.#attempting = outsideTraces(() => this.#reopen(reopening, cause))
  }

  /** Closes the connection for good. Idempotent; never rejects. */
  async close(): Promise<void> {
    if (this.#failure === undefined) this.#end(new ChannelError('closed', 'the client is closed'))
    // Requests that this has just rejected send their cancellation in the next microtask.
    await undefined
    const connections = [this.#current.connection, ...this.#retired]
    await Promise.all([...connections.map(one => one.close()), this.#attempting])
  }

  async #reopen(reopening: Deferred<Negotiated>, lost: Error | undefined): Promise<void> {
    let cause: unknown = lost
    const { connection } = this.#current
    if (connection.isRetired) this.#keepUntilClosed(connection)
    // The rest of the old connection goes first: a server may not tolerate two instances or connections at once.
    else await connection.close()
    while (!this.isClosed && this.#attempts < this.#settings.reconnect.attempts) {
      await this.#wait(reconnectDelayMs(this.#attempts++, this.#settings.reconnect))
      if (this.isClosed) return
      try {
        const opened = await this.#host.open(this.#gone.signal)
        if (await this.#isAccepted(opened)) {
          reopening.resolve(opened)
          return
        }
      } catch (error) {
        cause = error
      }
    }
    if (this.isClosed) return
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    const what = `the connection was lost, and reconnecting failed${why}`
    this.#end(new ChannelError('closed', what, { cause }), toError(cause))
  }

  #keepUntilClosed(connection: Connection): void {
    this.#retired.add(connection)
    void connection.closed.then(() => this.#retired.delete(connection))
  }

  /** Returns false, and closes the connection, if it was lost already or the client was closed meanwhile. */
  async #isAccepted(opened: Negotiated): Promise<boolean> {
    if (this.isClosed || !opened.connection.isOpen) {
      await opened.connection.close()
      return false
    }
    this.#current = opened
    this.#since = this.#settings.clock.now()
    this.#reopening = undefined
    this.#host.onReopened(opened)
    return true
  }

  #end(failure: ChannelError, cause?: Error): void {
    this.#failure = failure
    this.#gone.abort(failure)
    this.#reopening?.reject(failure)
    this.#host.onClosed(cause === undefined ? undefined : failure)
    this.#settleClosed(cause === undefined ? undefined : failure)
  }

  #wait(delayMs: number): Promise<void> {
    if (delayMs <= 0) return Promise.resolve()
    const { deadlines } = this.#settings
    return new Promise(resolve => {
      const alarm = timed(() => over())
      const over = () => {
        deadlines.stop(alarm)
        this.#gone.signal.removeEventListener('abort', over)
        resolve()
      }
      this.#gone.signal.addEventListener('abort', over)
      deadlines.start(alarm, delayMs)
    })
  }
}

/**
 * Returns the milliseconds to wait before an attempt, counted from 0. The first one comes at once; each
 * further one after a random part (full jitter) of a time that doubles, so that the clients that lost the
 * same server do not return at the same moment.
 */
export function reconnectDelayMs(
  attempt: number,
  { baseMs, maxMs, random }: ReconnectPolicy,
): number {
  if (attempt === 0) return 0
  return backoffMs(attempt - 1, { baseMs, maxMs, random })
}

function toError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('the server closed the connection', { cause })
}

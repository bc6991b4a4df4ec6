import { ChannelError } from '../../jsonrpc/channel.ts'
import { outsideTraces } from '../../mcp/trace-context.ts'
import { type Deferred, deferred } from '../../util/deferred.ts'
import { timed } from '../../util/time/deadline.ts'
import type { RestartPolicy, Settings } from '../settings.ts'
import type { Link } from './connection.ts'
import type { Opened } from './negotiate.ts'

/** What a lifeline needs, and whom it tells. */
export interface LifelineHost {
  /** Opens a connection; gives up when the signal says so. */
  open(signal: AbortSignal): Promise<Opened>
  /** A connection took the place of a lost one. */
  onReopened(opened: Opened): void
  /** There is none and there will be none. */
  onClosed(cause: Error | undefined): void
}

/**
 * Keeps one connection to a server alive: when it is lost, another is opened, after a wait that grows,
 * so often and no oftener.
 */
export class Lifeline {
  /** Settles when nothing will be sent any more; with the cause, unless `close` was called. */
  readonly closed: Promise<Error | undefined>
  readonly #host: LifelineHost
  readonly #settings: Settings
  readonly #gone = new AbortController()
  readonly #settleClosed: (cause: Error | undefined) => void
  #current: Opened
  #since: number
  /** What those wait for who come while there is no connection. */
  #reopening: Deferred<Opened> | undefined
  #attempting: Promise<void> | undefined
  #attempts = 0
  #failure: ChannelError | undefined

  constructor(first: Opened, host: LifelineHost, settings: Settings) {
    this.#host = host
    this.#settings = settings
    this.#current = first
    this.#since = settings.clock.now()
    const closed = deferred<Error | undefined>()
    this.closed = closed.promise
    this.#settleClosed = closed.resolve
  }

  /** The connection used last, whether or not it is still there. */
  get latest(): Opened {
    return this.#current
  }

  get isClosed(): boolean {
    return this.#failure !== undefined
  }

  /** Aborted when the lifeline has ended. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** The connection: at once while there is one, else when there is one again. May throw or reject. */
  ready(): Opened | Promise<Opened> {
    if (this.#failure !== undefined) throw this.#failure
    return this.#reopening === undefined ? this.#current : this.#reopening.promise
  }

  /** To be called when a link has ended by itself. */
  onEnded(link: Link, cause: Error | undefined): void {
    if (link !== this.#current.link || this.#reopening !== undefined || this.isClosed) return
    const { clock, restart } = this.#settings
    if (clock.now() - this.#since >= restart.steadyMs) this.#attempts = 0
    const reopening = deferred<Opened>()
    // Nobody need be waiting for it.
    reopening.promise.then(undefined, () => {})
    this.#reopening = reopening
    this.#attempting = outsideTraces(() => this.#reopen(reopening, cause))
  }

  /** Ends the connection for good. Idempotent; never rejects. */
  async close(): Promise<void> {
    if (this.#failure === undefined) this.#end(new ChannelError('closed', 'the client is closed'))
    // What has just been given up tells the server so in the next moment.
    await undefined
    await Promise.all([this.#current.link.close(), this.#attempting])
  }

  async #reopen(reopening: Deferred<Opened>, lost: Error | undefined): Promise<void> {
    let cause: unknown = lost
    // What is left of the old server goes first: two of them at once may be one too many.
    await this.#current.link.close()
    while (!this.isClosed && this.#attempts < this.#settings.restart.attempts) {
      await this.#wait(backoffMs(this.#attempts++, this.#settings.restart))
      if (this.isClosed) return
      try {
        const opened = await this.#host.open(this.#gone.signal)
        if (await this.#isTaken(opened)) {
          reopening.resolve(opened)
          return
        }
      } catch (error) {
        cause = error
      }
    }
    if (this.isClosed) return
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    const what = `the connection was lost and could not be opened again${why}`
    this.#end(new ChannelError('closed', what, { cause }), toError(cause))
  }

  /** Whether a new connection is any good: it may be gone already, or nobody may want it any more. */
  async #isTaken(opened: Opened): Promise<boolean> {
    if (this.isClosed || !opened.link.isOpen) {
      await opened.link.close()
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
 * How long to wait before an attempt, counted from 0: the first comes at once, each further one after
 * any part of a time that doubles, so that those who lost the same server do not return together.
 */
export function backoffMs(attempt: number, { baseMs, maxMs, random }: RestartPolicy): number {
  if (attempt === 0) return 0
  return random() * Math.min(maxMs, baseMs * 2 ** (attempt - 1))
}

function toError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('the server ended the connection', { cause })
}

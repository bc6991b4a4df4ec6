import type { CallOptions } from '../../jsonrpc/handler.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Negotiated } from '../connection/negotiate.ts'
import { reconnectDelayMs } from '../connection/reconnect.ts'
import { isLost, isUnsent } from '../errors.ts'
import type { ReconnectPolicy } from '../settings.ts'
import type { CallTimeout } from './call-timeout.ts'
import type { Progress } from './progress.ts'

/** Options of a request. */
export interface RequestOptions extends CallOptions {
  /** Called with the progress of the call. Each report restarts the timeout. */
  readonly onProgress?: (progress: Progress) => void
  /** The total time that the call may take, however much progress it reports. */
  readonly maxTotalMs?: number
  /** Bypasses the cache. */
  readonly fresh?: boolean
}

/** The state of one request, over all of its attempts and rounds of input. */
export class RequestRun {
  readonly method: string
  readonly options: RequestOptions
  readonly startedAt: number
  /** Created when the request first waits for more than a single response. */
  timeout: CallTimeout | undefined
  /** How often the request was sent again although it may have been executed. */
  repeats = 0
  /** How long to wait before the request is sent again. */
  delayMs = 0
  /** How often the request could not be sent because the server was not reachable. */
  #unreachable = 0

  constructor(method: string, options: RequestOptions, startedAt: number) {
    this.method = method
    this.options = options
    this.startedAt = startedAt
  }

  /**
   * Returns if the request may be sent again after this error: because it was never sent, or once because
   * repeating it does no harm. Throws the error otherwise.
   *
   * A request that was never sent shows that its connection is lost. Where each request has a stream of
   * its own, it shows nothing about the others: that request alone waits, at most `reconnect.attempts`
   * times.
   */
  retryOrThrow(
    { connection, server }: Negotiated,
    params: object | undefined,
    error: unknown,
    { isClientClosed, reconnect }: { isClientClosed: boolean; reconnect: ReconnectPolicy },
  ): void {
    const isAlone = connection.hasStreams && connection.isOpen
    // A cursor means nothing to the next session: the list is read again from the start.
    const { sessions } = server.revision.features
    if (sessions && !isAlone && params !== undefined && 'cursor' in params) throw error
    if (!isUnsent(error) || isClientClosed) {
      if (!isLost(error) || !isRepeatable(this.method) || this.repeats++ > 0) throw error
    } else if (isAlone) {
      if (this.#unreachable >= reconnect.attempts) throw error
      this.delayMs = reconnectDelayMs(this.#unreachable++, reconnect)
    } else if (!connection.hasStreams) connection.lose(error)
  }
}

/** Whether a request is read-only or idempotent, so that it is sent again if its connection was lost. */
function isRepeatable(method: string): boolean {
  return methodRow(method)?.repeatable !== undefined
}

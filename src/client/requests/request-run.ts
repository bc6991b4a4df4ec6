import type { CallOptions } from '../../jsonrpc/handler.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Negotiated } from '../connection/negotiate.ts'
import { isLost, isUnsent } from '../errors.ts'
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

  constructor(method: string, options: RequestOptions, startedAt: number) {
    this.method = method
    this.options = options
    this.startedAt = startedAt
  }

  /**
   * Returns if the request may be sent again after this error: because it was never sent, in which case the
   * connection is marked as lost, or once because repeating it does no harm. Throws the error otherwise.
   */
  retryOrThrow(
    { connection, server }: Negotiated,
    params: object | undefined,
    error: unknown,
    isClientClosed: boolean,
  ): void {
    // A cursor means nothing to the next session: the list is read again from the start.
    const { sessions } = server.revision.features
    if (sessions && params !== undefined && 'cursor' in params) throw error
    if (isUnsent(error) && !isClientClosed) connection.lose(error)
    else if (!isLost(error) || !isRepeatable(this.method) || this.repeats++ > 0) throw error
  }
}

/** Whether a request is read-only or idempotent, so that it is sent again if its connection was lost. */
function isRepeatable(method: string): boolean {
  return methodRow(method)?.repeatable !== undefined
}

import { ChannelError } from '../../jsonrpc/channel.ts'
import { readServerName } from '../../mcp/meta.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputResponses } from '../../mcp/types/input.ts'
import { isRecord } from '../../util/objects.ts'
import { invalidResponse } from '../errors.ts'
import type {
  HandlerContext,
  ServerRequestHandlers,
  ServerToClientRequest,
} from '../server-requests/handlers.ts'

/** The params that a retry adds to those of the first attempt. */
export interface InputRetry {
  readonly inputResponses?: InputResponses
  readonly requestState?: string
}

/**
 * Returns the type of a result of a stateless server: final, input required, or a task, if `allowTask`.
 * A result without a type is final. Throws a ChannelError `'framing'` for any other type, and for
 * `input_required` on a method that must not require input.
 */
export function resultTypeOf(
  result: unknown,
  method: string,
  allowTask: boolean,
): 'complete' | 'input_required' | 'task' {
  if (!isRecord(result)) throw invalidResponse(method, 'the result is not an object')
  const { resultType = 'complete' } = result
  if (resultType === 'complete') return resultType
  if (resultType === 'task' && method === 'tools/call' && allowTask) return resultType
  if (resultType === 'input_required') {
    if (methodRow(method)?.mayRequestInput) return resultType
    throw invalidResponse(method, 'the server must not require input for this method')
  }
  throw invalidResponse(
    method,
    `the result has an unknown resultType ${JSON.stringify(resultType)}`,
  )
}

/** Whether a result is final, by its type alone. */
export function isComplete(result: unknown): boolean {
  if (!isRecord(result)) return false
  const { resultType } = result
  return resultType === undefined || resultType === 'complete'
}

/** Reads an `input_required` result. Throws a ChannelError `'framing'` if it has neither part. */
export function readInputRequired(
  result: unknown,
  method: string,
): { readonly inputRequests?: Members; readonly requestState?: string; readonly server?: string } {
  const { inputRequests, requestState } = isRecord(result) ? result : {}
  if (inputRequests !== undefined && !isRecord(inputRequests)) {
    throw invalidResponse(method, 'inputRequests is not an object')
  }
  if (requestState !== undefined && typeof requestState !== 'string') {
    throw invalidResponse(method, 'requestState is not a string')
  }
  if (inputRequests === undefined && requestState === undefined) {
    throw invalidResponse(
      method,
      'the server requires input, but sent neither inputRequests nor requestState',
    )
  }
  return { inputRequests, requestState, server: readServerName(result) }
}

/**
 * Handles all input requests of one round concurrently, and returns the responses under the same keys.
 *
 * No handler runs before all requests have been validated; if this client does not support one of them,
 * the round rejects with a ChannelError `'refused'`. The first handler that throws rejects the round and
 * aborts the signal of the others.
 */
export async function answerInputRequests(
  method: string,
  inputRequests: Members | undefined,
  {
    handlers,
    revision,
    signal,
    server,
  }: HandlerContext & { readonly handlers: ServerRequestHandlers },
): Promise<InputResponses> {
  const stop = new AbortController()
  const context = { revision, signal: AbortSignal.any([signal, stop.signal]), server }
  const prepared = Object.entries(inputRequests ?? {}).map(([key, request]) => {
    if (!hasMethod(request))
      throw invalidResponse(method, `the input request "${key}" has no method`)
    try {
      return [key, handlers.prepare(request, context)] as const
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : 'refused'
      const what = `${method}: the server requires ${request.method}, which this client refuses: ${why}`
      throw new ChannelError('refused', what, { cause })
    }
  })
  try {
    const responses = prepared.map(async ([key, handle]) => [key, await handle()] as const)
    return Object.fromEntries(await Promise.all(responses))
  } catch (error) {
    stop.abort(error)
    throw error
  }
}

function hasMethod(value: unknown): value is ServerToClientRequest {
  return isRecord(value) && typeof value.method === 'string'
}

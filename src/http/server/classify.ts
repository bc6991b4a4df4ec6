import { rawParams } from '../../jsonrpc/codec/raw-json.ts'
import type { Batch, Message, RpcRequest } from '../../jsonrpc/message.ts'
import { type Caller, readCaller } from '../../mcp/caller.ts'
import { readRequestMeta } from '../../mcp/meta.ts'
import { mirroredParam } from '../../mcp/methods.ts'
import { decodeHeader } from '../../mcp/param-headers/encoding.ts'
import { type Revision, revisionOf, withoutHeader } from '../../mcp/revisions/revisions.ts'
import { isRecord } from '../../util/objects.ts'
import type { HttpRequest } from '../exchange.ts'
import { type Refusal, refusal } from './responses.ts'

/** Where the body of a POST is to be handled. */
export type Destination =
  /** A stateless request, which names its revision itself. */
  | { readonly to: 'stateless'; readonly message: RpcRequest; readonly caller: Caller | undefined }
  /** An `initialize`, which opens a session. */
  | { readonly to: 'initialize'; readonly message: RpcRequest }
  /** A message of the session with this id. */
  | { readonly to: 'session'; readonly id: string; readonly arrival: Message | Batch }
  /** A request of a session revision that names no session. */
  | { readonly to: 'sessionless'; readonly message: RpcRequest; readonly revision: string }
  /** A valid message that needs no action. */
  | { readonly to: 'ignored' }
  | Refused

/** A message that must be rejected. */
export interface Refused extends Refusal {
  readonly to: 'refused'
}

/**
 * Decides where a POST is handled, by its body first and its headers second, so that both eras can
 * share one address. Problems are checked in the order of the specification. `served` lists the
 * revisions of the endpoint.
 */
export function classify(
  arrival: Message | Batch,
  request: HttpRequest,
  served: readonly Revision[],
): Destination {
  if (arrival.type === 'batch') return classifyBatch(arrival, request)
  if (arrival.type === 'result' || arrival.type === 'error') return inSession(arrival, request)
  const header = request.header('mcp-protocol-version')?.trim()
  const found = readCaller(rawParams(arrival), request.principal, served)
  if (arrival.type === 'notification') {
    if (found !== undefined || isStateless(header, served)) return { to: 'ignored' }
    return inSession(arrival, request)
  }
  if (found === undefined) {
    if (isStateless(header, served)) return incomplete(arrival)
    if (arrival.method === 'initialize') return { to: 'initialize', message: arrival }
    return inSession(arrival, request, header)
  }
  const caller = 'revision' in found ? found : undefined
  const version = 'revision' in found ? found.revision.name : found.version
  if (header === undefined || header !== version) {
    return mismatch(
      arrival,
      'the header MCP-Protocol-Version does not match the version in the body',
    )
  }
  if ('message' in found) {
    // The endpoint reports best that it does not serve a revision, and the headers of an unknown
    // revision mean nothing here.
    if (found.isUnserved === true) return { to: 'stateless', message: arrival, caller }
    return invalid(arrival, found.message)
  }
  const problem = mirrorProblem(arrival, request)
  if (problem !== undefined) return mismatch(arrival, problem)
  return { to: 'stateless', message: arrival, caller }
}

/** Whether the protocol version header names a stateless revision that is served. */
function isStateless(header: string | undefined, served: readonly Revision[]): boolean {
  return header !== undefined && revisionOf('stateless', header, served) !== undefined
}

/** Routes a message without request metadata to the session that its header names. */
function inSession(arrival: Message | Batch, request: HttpRequest, version?: string): Destination {
  const id = request.header('mcp-session-id')
  if (id !== undefined) return { to: 'session', id, arrival }
  if (arrival.type === 'notification') return { to: 'ignored' }
  if (arrival.type !== 'request') {
    return refused(
      400,
      -32600,
      'The message belongs to a session; the header Mcp-Session-Id is missing',
    )
  }
  const revision = version === undefined ? withoutHeader : revisionOf('session', version)
  if (revision === undefined) {
    return refused(400, -32000, `Unsupported protocol version: ${version}`, arrival.id)
  }
  return { to: 'sessionless', message: arrival, revision: revision.name }
}

function classifyBatch(batch: Batch, request: HttpRequest): Destination {
  const isModern = batch.entries.some(
    entry => entry.type === 'request' && readRequestMeta(entry.params) !== undefined,
  )
  if (isModern) return refused(400, -32600, 'Batches are not supported in this protocol version')
  const id = request.header('mcp-session-id')
  if (id !== undefined) return { to: 'session', id, arrival: batch }
  return refused(400, -32600, 'A batch belongs to a session; the header Mcp-Session-Id is missing')
}

function incomplete(message: RpcRequest): Destination {
  const problem = readRequestMeta(message.params, { required: true })
  return invalid(message, problem?.ok === false ? problem.message : 'params._meta is incomplete')
}

function invalid({ id }: RpcRequest, details: string): Refused {
  return refused(400, -32602, details, id, { details })
}

function mismatch({ id }: RpcRequest, details: string): Refused {
  return refused(400, -32020, `Header mismatch: ${details}`, id, { details })
}

function refused(...args: Parameters<typeof refusal>): Refused {
  return { to: 'refused', ...refusal(...args) }
}

/**
 * Returns why the headers that mirror parts of a stateless request do not match it; undefined when
 * they do. The protocol version header is compared before, in `classify`.
 */
export function mirrorProblem(message: RpcRequest, request: HttpRequest): string | undefined {
  const method = request.header('mcp-method')
  if (method === undefined) return 'the header Mcp-Method is missing'
  if (method.trim() !== message.method) return 'the header Mcp-Method does not match the method'
  const mirrored = mirroredParam(message.method)
  if (mirrored === undefined) return undefined
  const params = rawParams(message)
  const value = isRecord(params) ? params[mirrored] : undefined
  // A value that is not a string is rejected by the method itself, with a more specific message.
  if (typeof value !== 'string') return undefined
  const header = request.header('mcp-name')
  if (header === undefined) return 'the header Mcp-Name is missing'
  const name = decodeHeader(header)
  if (name === undefined) return 'the header Mcp-Name is not encoded correctly'
  return name === value ? undefined : `the header Mcp-Name does not match params.${mirrored}`
}

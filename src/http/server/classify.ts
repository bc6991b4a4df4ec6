import { unreadParams } from '../../jsonrpc/codec/raw-json.ts'
import type { Batch, Message, RpcRequest } from '../../jsonrpc/message.ts'
import { readEnvelope } from '../../mcp/meta.ts'
import { revisionNamed, withoutHeader } from '../../mcp/revisions/revisions.ts'
import type { HttpRequest } from '../exchange.ts'
import { mirrorProblem } from './mirror.ts'
import { type Refusal, refusal } from './responses.ts'

/** Where the body of a POST belongs. */
export type Destination =
  /** A request that speaks for itself. */
  | { readonly to: 'stateless'; readonly message: RpcRequest }
  /** The beginning of a session. */
  | { readonly to: 'initialize'; readonly message: RpcRequest }
  /** The session of this name. */
  | { readonly to: 'session'; readonly id: string; readonly arrival: Message | Batch }
  /** A request of a session revision that names no session. */
  | { readonly to: 'sessionless'; readonly message: RpcRequest; readonly revision: string }
  /** Nothing to be done, and nothing wrong with it. */
  | { readonly to: 'nowhere' }
  | Refused

/** What cannot be taken. */
export interface Refused extends Refusal {
  readonly to: 'refused'
}

/**
 * Decides by the body first and the headers second where a POST belongs, so that both eras can share
 * one address. The order of the refusals is that of the protocol. `stateless` names the revisions
 * without sessions that are served.
 */
export function classify(
  arrival: Message | Batch,
  request: HttpRequest,
  stateless: ReadonlySet<string>,
): Destination {
  if (arrival.type === 'batch') return classifyBatch(arrival, request)
  if (arrival.type === 'result' || arrival.type === 'error') return inSession(arrival, request)
  const header = request.header('mcp-protocol-version')?.trim()
  const isDeclared = header !== undefined && stateless.has(header)
  const envelope = stateless.size === 0 ? undefined : readEnvelope(unreadParams(arrival))
  if (arrival.type === 'notification') {
    if (envelope !== undefined || isDeclared) return { to: 'nowhere' }
    return inSession(arrival, request)
  }
  if (envelope === undefined) {
    if (isDeclared) return incomplete(arrival)
    if (arrival.method === 'initialize') return { to: 'initialize', message: arrival }
    return inSession(arrival, request, header)
  }
  if (header === undefined || header !== envelope.version) {
    return mismatch(arrival, 'the header MCP-Protocol-Version is not the revision of the body')
  }
  if (!envelope.ok) return invalid(arrival, envelope.message)
  // Whether it is served, the endpoint says best; the headers of one that is not mean nothing.
  if (!stateless.has(envelope.version)) return { to: 'stateless', message: arrival }
  const problem = mirrorProblem(arrival, request)
  return problem === undefined ? { to: 'stateless', message: arrival } : mismatch(arrival, problem)
}

/** Where a message goes that says nothing of itself: to the session its header names. */
function inSession(arrival: Message | Batch, request: HttpRequest, version?: string): Destination {
  const id = request.header('mcp-session-id')
  if (id !== undefined) return { to: 'session', id, arrival }
  if (arrival.type === 'notification') return { to: 'nowhere' }
  if (arrival.type !== 'request') {
    return refused(400, -32600, 'This belongs to a session; the header Mcp-Session-Id is missing')
  }
  const revision = version === undefined ? withoutHeader : revisionNamed(version)
  if (revision?.era !== 'session') {
    return refused(400, -32000, `Unsupported protocol version: ${version}`, arrival.id)
  }
  return { to: 'sessionless', message: arrival, revision: revision.name }
}

function classifyBatch(batch: Batch, request: HttpRequest): Destination {
  const isModern = batch.entries.some(
    entry => entry.type === 'request' && readEnvelope(entry.params) !== undefined,
  )
  if (isModern) return refused(400, -32600, 'Batches do not exist in this revision')
  const id = request.header('mcp-session-id')
  if (id !== undefined) return { to: 'session', id, arrival: batch }
  return refused(400, -32600, 'A batch belongs to a session; the header Mcp-Session-Id is missing')
}

function incomplete(message: RpcRequest): Destination {
  const problem = readEnvelope(message.params, { required: true })
  return invalid(message, problem?.ok === false ? problem.message : 'params._meta is not complete')
}

function invalid({ id }: RpcRequest, details: string): Refused {
  return refused(400, -32602, details, id, { details })
}

function mismatch({ id }: RpcRequest, details: string): Refused {
  return refused(400, -32020, `Header mismatch: ${details}`, id, { details })
}

function refused(...words: Parameters<typeof refusal>): Refused {
  return { to: 'refused', ...refusal(...words) }
}

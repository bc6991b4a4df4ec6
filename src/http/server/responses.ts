import type { Principal } from '../../jsonrpc/channel.ts'
import { decodeBy } from '../../jsonrpc/codec/decode.ts'
import type { DecodeRules } from '../../jsonrpc/codec/decode-rules.ts'
import { encode } from '../../jsonrpc/codec/encode.ts'
import { oversize } from '../../jsonrpc/codec/malformed.ts'
import type { MetaCache } from '../../jsonrpc/codec/meta-cache.ts'
import type { Batch, Decoded, ErrorObject, Id, Malformed, Message } from '../../jsonrpc/message.ts'
import type { Authenticator, AuthRefusal } from '../../mcp/authenticator.ts'
import { isRecord } from '../../util/objects.ts'
import type { EventStream, HttpReply, HttpRequest, ReplyHeaders } from '../exchange.ts'

/** The media type of a response that is one message or a batch. */
export const json: ReplyHeaders = { 'content-type': 'application/json' }

/** A rejection: its status, and the JSON-RPC error in its body. */
export interface Refusal {
  readonly status: number
  readonly id: Id | null
  /** Whether an id that is null is left out. */
  readonly omitsId?: boolean
  readonly error: ErrorObject
}

/** Makes a Refusal. */
export function refusal(
  status: number,
  code: number,
  message: string,
  id: Id | null = null,
  data?: unknown,
): Refusal {
  const error = data === undefined ? { code, message } : { code, message, data }
  return { status, id, error }
}

/**
 * Makes the Refusal of a request for another path than the one that is served. It names that path to
 * clients on this machine; for others it would reveal what is served.
 */
export function nothingServed(request: HttpRequest, path: string): Refusal {
  const data = request.local().loopback ? { paths: [path] } : undefined
  return refusal(404, -32000, 'Nothing is served at this path', null, data)
}

/**
 * Makes the Refusal that names the supported stateless revisions to a client of the session era, which
 * could not find them out otherwise.
 */
export function noSessions(arrival: Message | Batch, supported: Iterable<string>): Refusal {
  const names = [...supported]
  const why = 'the header MCP-Protocol-Version is missing or names a version with sessions'
  const message = `Header mismatch: ${why}; this server supports ${names.join(', ')}`
  const id = arrival.type === 'request' ? arrival.id : null
  return refusal(400, -32020, message, id, { supported: names })
}

/** Responds with a JSON-RPC error and its HTTP status. */
export function refuse(
  reply: HttpReply,
  { status, id, error, omitsId = false }: Refusal,
  headers: ReplyHeaders = {},
): void {
  reply.send(status, { ...json, ...headers }, encode({ type: 'error', id, error, omitsId }))
}

/** Refuses a request that was not authenticated, or lacks scopes. */
export function refuseAuth(reply: HttpReply, denied: AuthRefusal, id: Id | null = null): void {
  const { status, message, headers, kind, retryAfterMs } = denied
  const data = { ...(kind && { kind }), ...(retryAfterMs !== undefined && { retryAfterMs }) }
  refuse(reply, refusal(status, -32000, message, id, data), headers)
}

/**
 * Returns the refusal for an error of a handler that says which scopes are missing; undefined for any other
 * error.
 */
export function deniedBy(
  auth: Authenticator | undefined,
  { data }: ErrorObject,
  principal: Principal | undefined,
): AuthRefusal | undefined {
  if (auth === undefined || !isRecord(data) || data.kind !== 'insufficient_permissions')
    return undefined
  const { scopes } = data
  if (!Array.isArray(scopes) || scopes.length === 0) return undefined
  return auth.insufficientScope(
    scopes.filter(scope => typeof scope === 'string'),
    principal,
  )
}

/** Decodes a request body. `bytes` is undefined for a body over the limit. */
export function decodeBody(
  bytes: Uint8Array | undefined,
  rules: DecodeRules,
  metaCache?: MetaCache,
): Decoded {
  return bytes === undefined
    ? oversize(rules.maxBytes, rules.tooLargeCode)
    : decodeBy(bytes, rules, metaCache)
}

/** Reads the body of a request for `then`, or refuses the request because too much is held. */
export function withBody(
  request: HttpRequest,
  reply: HttpReply,
  maxBytes: number,
  then: (bytes: Uint8Array | undefined) => void,
): void {
  request.body(maxBytes, body => {
    if (body === 'no-room') refuse(reply, refusal(503, -32000, 'Server overloaded'), overloaded)
    else then(body)
  })
}

/** The headers of a refusal by a server that has too much to do, for now. */
export const overloaded: ReplyHeaders = { 'retry-after': '1' }

/** Makes the Refusal for a body that is not a valid message. */
export function malformedBody({ id, error, reason }: Malformed): Refusal {
  return { status: reason === 'too-large' ? 413 : 400, id, error }
}

/**
 * Returns the HTTP status for a stateless request that failed with this error code. An error of the
 * method itself is an ordinary response with status 200.
 */
export function httpStatusOf(code: number): number {
  switch (code) {
    case -32700:
    case -32600:
    case -32020:
    case -32021:
    case -32022:
      return 400
    case -32601:
      return 404
    case -32012:
      return 413
    default:
      return 200
  }
}

/** No headers, recognized by identity. */
export const noHeaders: ReplyHeaders = Object.freeze({})

/** Returns a reply that adds `headers` to its response; `reply` itself where `headers` is `noHeaders`. */
export function withHeaders(reply: HttpReply, headers: ReplyHeaders): HttpReply {
  return headers === noHeaders ? reply : new ReplyWithHeaders(reply, headers)
}

class ReplyWithHeaders implements HttpReply {
  readonly #reply: HttpReply
  readonly #headers: ReplyHeaders

  constructor(reply: HttpReply, headers: ReplyHeaders) {
    this.#reply = reply
    this.#headers = headers
  }

  get isFinished(): boolean {
    return this.#reply.isFinished
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    this.#reply.send(status, { ...this.#headers, ...headers }, body)
  }

  stream(headers: ReplyHeaders): EventStream {
    return this.#reply.stream({ ...this.#headers, ...headers })
  }

  onDisconnect(listener: () => void): void {
    this.#reply.onDisconnect(listener)
  }
}

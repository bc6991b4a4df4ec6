import { decodeBy } from '../../jsonrpc/codec/decode.ts'
import type { DecodeRules } from '../../jsonrpc/codec/decode-rules.ts'
import { encodeError } from '../../jsonrpc/codec/encode.ts'
import { oversize } from '../../jsonrpc/codec/malformed.ts'
import type { MetaCache } from '../../jsonrpc/codec/meta-cache.ts'
import type { Decoded, ErrorObject, Id, Malformed } from '../../jsonrpc/message.ts'
import type { EventStream, HttpReply, ReplyHeaders } from '../exchange.ts'

/** The media type of a response that is one message or a batch. */
export const json: ReplyHeaders = { 'content-type': 'application/json' }

/** A rejection: its status, and the JSON-RPC error in its body. */
export interface Refusal {
  readonly status: number
  readonly id: Id | null
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

/** Responds with a JSON-RPC error and its HTTP status. */
export function refuse(
  reply: HttpReply,
  { status, id, error }: Refusal,
  headers: ReplyHeaders = {},
): void {
  const { code, message, data } = error
  reply.send(status, { ...json, ...headers }, encodeError(id, code, message, data))
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

/** Makes the Refusal for a body that is not a valid message. */
export function malformedBody({ id, error, reason }: Malformed): Refusal {
  return { status: reason === 'too-large' ? 413 : 400, id, error }
}

/**
 * Returns the HTTP status for a stateless request that failed with this error code. An error of the
 * method itself is an ordinary response with status 200.
 */
export function statusOf(code: number): number {
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

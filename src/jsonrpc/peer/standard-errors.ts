import { encode } from '../codec/encode.ts'
import { codes, errorObject, internalError } from '../error.ts'
import { type ErrorObject, isList, type Message, type RpcFailure } from '../message.ts'

/** The response to input that is not a valid request. */
export const INVALID_REQUEST: ErrorObject = {
  code: codes.invalidRequest,
  message: 'Invalid Request',
}
// Codes from -32099 to -32000 are left to implementations by JSON-RPC 2.0, section 5.1.
/** The response to a request beyond the queue limit. */
export const BUSY: ErrorObject = { code: -32000, message: 'Too many requests at once' }
/** The response to a request that arrives while the peer closes: it was not begun. */
export const SHUTTING_DOWN: ErrorObject = {
  code: -32000,
  message: 'Shutting down: the request was not begun',
}
/** Returns whether an error says that the request was not begun, because the peer was closing. */
export function isShuttingDown({ code, message }: ErrorObject): boolean {
  return code === SHUTTING_DOWN.code && message === SHUTTING_DOWN.message
}

/** The response to a request that was begun, and not completed before the peer had to close. */
export const SHUT_DOWN: ErrorObject = { code: -32000, message: 'Shutting down' }

/** Replaces each reply that cannot be encoded with an internal error. */
export function encodableReply(reply: Message | readonly Message[]): Message | readonly Message[] {
  return isList(reply) ? reply.map(asEncodable) : internalFailure(reply)
}

function asEncodable(reply: Message): Message {
  try {
    encode(reply)
    return reply
  } catch {
    return internalFailure(reply)
  }
}

function internalFailure(reply: Message): RpcFailure {
  const id = reply.type === 'notification' ? null : reply.id
  return { type: 'error', id, error: errorObject(internalError()) }
}

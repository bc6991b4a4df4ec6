import { encode } from '../codec/encode.ts'
import { codes, errorObject, internalError } from '../error.ts'
import { type ErrorObject, isList, type Message, type RpcFailure } from '../message.ts'

/** What a peer answers by itself. */
export const INVALID_REQUEST: ErrorObject = {
  code: codes.invalidRequest,
  message: 'Invalid Request',
}
// Codes from -32099 to -32000 are left to implementations by JSON-RPC 2.0, section 5.1.
export const BUSY: ErrorObject = { code: -32000, message: 'Too many requests at once' }
export const SHUTTING_DOWN: ErrorObject = { code: -32000, message: 'Shutting down' }

/** The same reply, or the same replies, as far as they can be written at all. */
export function writableReply(reply: Message | readonly Message[]): Message | readonly Message[] {
  return isList(reply) ? reply.map(asWritable) : unwritable(reply)
}

/** Each reply of a batch that can be written stays; the others become an error of their own. */
function asWritable(reply: Message): Message {
  try {
    encode(reply)
    return reply
  } catch {
    return unwritable(reply)
  }
}

function unwritable(reply: Message): RpcFailure {
  const id = reply.type === 'notification' ? null : reply.id
  return { type: 'error', id, error: errorObject(internalError()) }
}

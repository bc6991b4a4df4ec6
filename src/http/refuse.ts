import { encodeError } from '../jsonrpc/encode.ts'
import type { Id } from '../jsonrpc/message.ts'
import type { HttpReply, ReplyHeaders } from './transfer.ts'

/** The media type of an answer that is one message, or a batch. */
export const json: ReplyHeaders = { 'content-type': 'application/json' }

/** What is refused, in words that also programs understand. */
export interface RefusalBody {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly id?: Id | null
  readonly headers?: ReplyHeaders
}

/** Answers with an error, and with a status that says so as well. */
export function refuseWith(reply: HttpReply, refusal: RefusalBody): void {
  const { status, code, message, id = null, headers } = refusal
  reply.send(status, { ...json, ...headers }, encodeError(id, code, message))
}

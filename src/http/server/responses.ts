import { encodeError } from '../../jsonrpc/codec/encode.ts'
import type { ErrorObject, Id } from '../../jsonrpc/message.ts'
import type { HttpReply, ReplyHeaders } from '../exchange.ts'

/** The media type of an answer that is one message, or a batch. */
export const json: ReplyHeaders = { 'content-type': 'application/json' }

/** What is not taken, and how that is said. */
export interface Refusal {
  readonly status: number
  readonly id: Id | null
  readonly error: ErrorObject
}

/** A refusal with the error that says why. */
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

/** Answers with an error, and with a status that says so as well. */
export function refuse(
  reply: HttpReply,
  { status, id, error }: Refusal,
  headers: ReplyHeaders = {},
): void {
  const { code, message, data } = error
  reply.send(status, { ...json, ...headers }, encodeError(id, code, message, data))
}

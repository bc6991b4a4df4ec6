import { codes } from '../error.ts'
import type { Id, Malformed, Reason } from '../message.ts'

/** Makes the value for a text over the size limit, which was not parsed. */
export function oversize(maxBytes: number, code: number): Malformed {
  return {
    type: 'invalid',
    reason: 'too-large',
    detail: `more than ${maxBytes} bytes`,
    id: null,
    error: {
      code,
      message: 'Message size exceeds maximum allowed',
      data: { maxSize: maxBytes, unit: 'bytes' },
    },
  }
}

/** The value for an incomplete message that is not read to its end, because too much is held already. */
export const noRoom: Malformed = {
  type: 'invalid',
  reason: 'too-large',
  detail: 'too many incomplete messages are held',
  id: null,
  error: { code: -32000, message: 'Server overloaded' },
}

/** Makes the value for input that is not JSON or not UTF-8. */
export function notJson(detail: string, reason: 'json' | 'encoding' = 'json'): Malformed {
  return {
    type: 'invalid',
    reason,
    detail,
    id: null,
    error: { code: codes.parseError, message: 'Parse error' },
  }
}

/** Makes the value for JSON that is not a valid message. */
export function invalidRequest(reason: Reason, detail: string, id: Id | null = null): Malformed {
  return {
    type: 'invalid',
    reason,
    detail,
    id,
    error: { code: codes.invalidRequest, message: 'Invalid Request' },
  }
}

/** Makes the value for an invalid reply: the call it refers to fails, and nothing is sent back. */
export function invalidReply(reason: Reason, detail: string, id: Id | null): Malformed {
  return { ...invalidRequest(reason, detail, id), reply: true }
}

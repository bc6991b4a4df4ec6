import { codes } from '../error.ts'
import type { Id, Malformed, Reason } from '../message.ts'

/** Text over the size limit, whose size alone was looked at. */
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

/** Bytes or text that are no JSON. */
export function notJson(detail: string, reason: 'json' | 'encoding' = 'json'): Malformed {
  return {
    type: 'invalid',
    reason,
    detail,
    id: null,
    error: { code: codes.parseError, message: 'Parse error' },
  }
}

/** JSON that is no message. */
export function invalidRequest(reason: Reason, detail: string, id: Id | null = null): Malformed {
  return {
    type: 'invalid',
    reason,
    detail,
    id,
    error: { code: codes.invalidRequest, message: 'Invalid Request' },
  }
}

/** A reply that is none: the call it was meant for fails, and nothing is sent back. */
export function invalidReply(reason: Reason, detail: string, id: Id | null): Malformed {
  return { ...invalidRequest(reason, detail, id), reply: true }
}

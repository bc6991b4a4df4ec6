import { BackplaneError } from '../backplane-error.ts'

/** Returns a reply as an array; throws if it is none. */
export function arrayReply(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply
  throw unexpected(reply)
}

/** Returns a reply as text; throws if it is neither text nor a number. */
export function textReply(reply: unknown): string {
  if (typeof reply === 'string') return reply
  if (typeof reply === 'number') return `${reply}`
  throw unexpected(reply)
}

/** Returns a reply as a whole number; throws if it is none. */
export function numberReply(reply: unknown): number {
  const number = typeof reply === 'string' ? Number(reply) : reply
  if (Number.isSafeInteger(number)) return Number(number)
  throw unexpected(reply)
}

function unexpected(reply: unknown): BackplaneError {
  const text = JSON.stringify(reply)?.slice(0, 100)
  return new BackplaneError('unknown', `the engine sent an unexpected reply: ${text}`)
}

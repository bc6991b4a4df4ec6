import { decode } from '../jsonrpc/codec/decode.ts'
import { isRecord } from '../util/objects.ts'

/**
 * Parses a JSON object, and rejects one in which a member appears twice: two readers could choose
 * different values. Returns undefined for anything else.
 */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  // The decoder of messages is strict in the same way.
  const message = decode(`{"jsonrpc":"2.0","method":"x","params":${text}}`)
  if (message.type !== 'notification' || !text.trimStart().startsWith('{')) return undefined
  return isRecord(message.params) ? message.params : undefined
}

/** Decodes a base64url part of a token as UTF-8; undefined if it is neither. */
export function decodePart(part: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return undefined
  try {
    const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), character =>
      character.charCodeAt(0),
    )
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

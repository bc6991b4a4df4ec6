import { decodeBy } from '../../jsonrpc/codec/decode.ts'
import type { DecodeRules } from '../../jsonrpc/codec/decode-rules.ts'
import { oversize } from '../../jsonrpc/codec/malformed.ts'
import type { Repeats } from '../../jsonrpc/codec/repeated-meta.ts'
import type { Decoded, Malformed } from '../../jsonrpc/message.ts'
import type { Refusal } from './responses.ts'

/** What a body holds; undefined stands for one that was larger than the rules let it be. */
export function messageIn(
  bytes: Uint8Array | undefined,
  rules: DecodeRules,
  repeats?: Repeats,
): Decoded {
  return bytes === undefined
    ? oversize(rules.maxBytes, rules.tooLargeCode)
    : decodeBy(bytes, rules, repeats)
}

/** The pieces of a body as one; of a single piece that itself. */
export function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = pieces
  if (only !== undefined && pieces.length === 1) return only
  const bytes = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** How a body is refused that holds no message. */
export function malformedBody({ id, error, reason }: Malformed): Refusal {
  return { status: reason === 'too-large' ? 413 : 400, id, error }
}

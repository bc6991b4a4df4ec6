import type { Target } from './target.ts'
import { decodeTarget } from './targets/decode.ts'
import { headersTarget } from './targets/headers.ts'
import { lengthTarget } from './targets/length.ts'
import { linesTarget } from './targets/lines.ts'
import { peerTarget } from './targets/peer.ts'
import { sseTarget } from './targets/sse.ts'

/** Everything that is tried with made-up input. */
export const targets: readonly Target[] = [
  linesTarget,
  lengthTarget,
  headersTarget,
  sseTarget,
  decodeTarget,
  peerTarget,
]

import type { Target } from './target.ts'
import { challengeTarget } from './targets/challenge.ts'
import { configTarget } from './targets/config.ts'
import { decodeTarget } from './targets/decode.ts'
import { headersTarget } from './targets/headers.ts'
import { lengthTarget } from './targets/length.ts'
import { linesTarget } from './targets/lines.ts'
import { linkFramesTarget } from './targets/link-frames.ts'
import { patternTarget } from './targets/pattern.ts'
import { peerTarget } from './targets/peer.ts'
import { requestsTarget } from './targets/requests.ts'
import { responseTarget } from './targets/response.ts'
import { schemaTarget } from './targets/schema.ts'
import { sseTarget } from './targets/sse.ts'
import { uriTemplateTarget } from './targets/uri-template.ts'

/** All fuzz targets. */
export const targets: readonly Target[] = [
  linesTarget,
  lengthTarget,
  headersTarget,
  linkFramesTarget,
  sseTarget,
  decodeTarget,
  peerTarget,
  requestsTarget,
  responseTarget,
  configTarget,
  uriTemplateTarget,
  patternTarget,
  schemaTarget,
  challengeTarget,
]

import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'

/** The limits of links; `docs/limits.md` describes them under the names with the prefix `link`. */
export interface LinkLimits {
  readonly connectMs: number
  readonly pingMs: number
  readonly silentMs: number
  readonly streams: number
  readonly creditBytes: number
  readonly dataBytes: number
  readonly frameBytes: number
}

/** The default limits of links. */
export const linkLimits: LinkLimits = {
  connectMs: limits.linkConnectMs.default,
  pingMs: limits.linkPingMs.default,
  silentMs: limits.linkSilentMs.default,
  streams: limits.linkStreams.default,
  creditBytes: limits.linkCreditBytes.default,
  dataBytes: limits.linkDataBytes.default,
  frameBytes: limits.linkFrameBytes.default,
}

/** What all links of a node have in common. */
export interface LinkSettings {
  /** The id of this node. */
  readonly node: string
  /** The name of the cluster. */
  readonly cluster: string
  readonly limits: LinkLimits
  readonly clock: Clock
}

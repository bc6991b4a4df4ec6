import type { BucketRequest } from '../shared-rates.ts'
import type { Moment } from './moment.ts'

/** The tokens of a bucket at a time. */
export interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** What a request to a bucket gets. */
export interface BucketAnswer {
  /** The tokens; 0 if there are fewer than the least. */
  readonly taken: number
  /** The time until there are enough; 0 if tokens were taken. */
  readonly waitMs: number
  readonly bucket: Bucket
  /** The time until which the bucket must be kept; afterwards it would be full. */
  readonly until: number
}

/** Takes tokens from a bucket, which is full if nothing is stored. */
export function takenFrom(
  stored: Bucket | undefined,
  { perSecond, burst, want, least }: BucketRequest,
  moment: Moment,
): BucketAnswer {
  // However exact each caller knows the time, together they never add more than the time that has passed.
  const at = stored === undefined ? moment.most : Math.max(stored.at, moment.least)
  const added = stored === undefined ? 0 : ((at - stored.at) / 1000) * perSecond
  const level = stored === undefined ? burst : Math.min(burst, stored.tokens + added)
  const waitMs = Math.max(0, Math.ceil(((least - level) / perSecond) * 1000))
  // Rounding may leave the level a trace below a whole number.
  const taken = waitMs > 0 ? 0 : Math.min(want, Math.max(least, Math.floor(level)))
  const until = moment.most + Math.ceil((burst / perSecond) * 2000) + 1
  return { taken, waitMs, bucket: { tokens: level - taken, at }, until }
}

/** The slots that a node has leased. */
export interface SlotLease {
  readonly node: string
  readonly slots: number
  readonly until: number
}

/** Who wants slots. */
export interface SlotRequest {
  readonly total: number
  readonly node: string
  readonly want: number
  readonly ttlMs: number
}

/** Leases slots to a node, instead of those that it has. */
export function withLease(
  stored: readonly SlotLease[],
  { total, node, want, ttlMs }: SlotRequest,
  { least, most }: Moment,
): { readonly leases: readonly SlotLease[]; readonly slots: number } {
  const others = stored.filter(lease => lease.node !== node && lease.until > least)
  const used = others.reduce((sum, lease) => sum + lease.slots, 0)
  const slots = Math.max(0, Math.min(want, total - used))
  const leases = slots === 0 ? others : [...others, { node, slots, until: most + ttlMs }]
  return { leases, slots }
}

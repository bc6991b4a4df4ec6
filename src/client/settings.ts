import type { RpcError } from '../jsonrpc/error.ts'
import type { ErrorObject } from '../jsonrpc/message.ts'
import { fromWire } from '../mcp/errors/wire.ts'
import { type Profile, profile } from '../mcp/profile.ts'
import {
  noRevision,
  type Revision,
  type RevisionName,
  revisionNamed,
  revisions,
  revisionsOf,
  unknownRevision,
} from '../mcp/revisions/revisions.ts'
import type { Implementation } from '../mcp/types/base.ts'
import { limits } from '../util/limits/limits.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'
import { Deadlines, systemDeadlines } from '../util/time/deadline.ts'
import { version as ownVersion } from '../util/version.ts'
import type { ClientOptions, HeartbeatOptions, VersionCacheOptions } from './options.ts'

/** When and how often to reconnect, with all defaults filled in. */
export interface ReconnectPolicy {
  readonly attempts: number
  readonly baseMs: number
  readonly maxMs: number
  readonly stableMs: number
  readonly random: () => number
}

/** The options of a client with all defaults filled in. */
export interface Settings {
  readonly info: Implementation
  readonly era: 'auto' | 'session' | 'stateless'
  /** The allowed revisions, oldest first; never empty. */
  readonly revisions: readonly Revision[]
  readonly profile: Profile
  readonly strict: boolean
  readonly timeoutMs: number
  readonly totalMs: number
  readonly discoverTimeoutMs: number
  readonly reconnect: ReconnectPolicy
  readonly heartbeat: Required<HeartbeatOptions>
  /** A cache of this client alone, unless the options name another. */
  readonly versionCache: VersionCacheOptions
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly onError: (error: unknown) => void
  /** Converts the error of a response; the revision decides what its code means. */
  readonly fromWire: (error: ErrorObject, revision: Revision | undefined) => RpcError
}

/** Fills in the defaults. Throws a TypeError for invalid options. */
export function settingsOf(options: ClientOptions): Settings {
  const { clock, era = 'auto' } = options
  const rules = profile(options.profile)
  if (options.revisions?.length === 0) throw noRevision()
  const allowed = revisionsOf(era, (options.revisions ?? revisions).map(known))
  if (allowed.length === 0)
    throw new TypeError(`option "revisions" names no revision of the era "${era}"`)
  return {
    info: infoOf(options),
    era,
    // Sorted, because `newest` searches from the end and callers may list them in any order. Names are dates.
    revisions: allowed.sort((a, b) => (a.name < b.name ? -1 : 1)),
    profile: rules,
    strict: options.strict ?? false,
    timeoutMs: options.timeoutMs ?? limits.callTimeoutMs.default,
    totalMs: options.maxTotalMs ?? limits.callTotalMs.default,
    discoverTimeoutMs: options.discoverTimeoutMs ?? limits.discoverTimeoutMs.default,
    reconnect: reconnectOf(options.reconnect),
    heartbeat: {
      everyMs: options.heartbeat?.everyMs ?? limits.heartbeatMs.default,
      waitMs: options.heartbeat?.waitMs ?? limits.heartbeatWaitMs.default,
    },
    versionCache: options.versionCache ?? { key: '', store: new Map() },
    clock: clock ?? systemClock,
    deadlines: clock === undefined ? systemDeadlines : new Deadlines(clock),
    onError: options.onError ?? printError,
    fromWire: (error, revision) => fromWire(error, { profile: rules, revision }),
  }
}

/** Whether JSON-RPC batches are allowed: by the profile, or else by the revision. */
export function hasBatches({ batches }: Profile, revision: Revision | undefined): boolean {
  return batches === 'auto' ? (revision?.batches ?? false) : batches === 'always'
}

function known(revision: RevisionName | Revision): Revision {
  // Programs without types pass anything.
  if (typeof revision === 'object' && revision !== null) return revision
  const found = revisionNamed(revision)
  if (found === undefined) throw unknownRevision(revision)
  return found
}

function infoOf(options: ClientOptions): Implementation {
  const { name = 'trunkline', version = ownVersion } = options
  const { title, description, websiteUrl, icons } = options
  return { name, version, title, description, websiteUrl, icons }
}

function reconnectOf(options: ClientOptions['reconnect']): ReconnectPolicy {
  const given = options === false ? { attempts: 0 } : (options ?? {})
  return {
    attempts: given.attempts ?? limits.reconnects.default,
    baseMs: given.baseMs ?? limits.reconnectMs.default,
    maxMs: given.maxMs ?? limits.reconnectMaxMs.default,
    stableMs: given.stableMs ?? limits.stableMs.default,
    random: given.random ?? Math.random,
  }
}

function printError(error: unknown): void {
  console.error('trunkline client:', error)
}

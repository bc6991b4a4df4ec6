import type { RpcError } from '../jsonrpc/error.ts'
import type { ErrorObject } from '../jsonrpc/message.ts'
import { fromWire } from '../mcp/errors/wire.ts'
import { type Profile, profile } from '../mcp/profile.ts'
import { type Revision, revisionNamed, revisions } from '../mcp/revisions/revisions.ts'
import type { Implementation } from '../mcp/types/base.ts'
import { limits } from '../util/limits/limits.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'
import { Deadlines, systemDeadlines } from '../util/time/deadline.ts'
import { version as ownVersion } from '../util/version.ts'
import type { ClientOptions, HeartbeatOptions, Remember } from './options.ts'

/** How lost connections are opened again. */
export interface RestartPolicy {
  readonly attempts: number
  readonly baseMs: number
  readonly maxMs: number
  readonly steadyMs: number
  readonly random: () => number
}

/** The options of a client with every default in its place. */
export interface Settings {
  readonly info: Implementation
  readonly era: 'auto' | 'session' | 'stateless'
  /** What the client is willing to speak, oldest first; never empty. */
  readonly revisions: readonly Revision[]
  readonly profile: Profile
  readonly strict: boolean
  readonly timeoutMs: number
  readonly totalMs: number
  readonly probeMs: number
  readonly restart: RestartPolicy
  readonly heartbeat: Required<HeartbeatOptions>
  /** Of this client alone, if nobody else wants to know. */
  readonly remember: Remember
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly onError: (error: unknown) => void
  /** An error of a reply, with its kind as the revision that was spoken understands it. */
  readonly fromWire: (error: ErrorObject, revision: Revision | undefined) => RpcError
}

/** Puts the defaults in. Throws a TypeError for options that mean nothing. */
export function settingsOf(options: ClientOptions): Settings {
  const { clock, era = 'auto' } = options
  const rules = profile(options.profile)
  const wanted = (options.revisions ?? revisions)
    .map(known)
    .filter(revision => era === 'auto' || revision.era === era)
  if (wanted.length === 0) throw new TypeError(`no revision is left to speak in the era "${era}"`)
  return {
    info: infoOf(options),
    era,
    // Whatever order the caller wrote them in: "newest" looks from the end, and names are dates.
    revisions: wanted.sort((a, b) => (a.name < b.name ? -1 : 1)),
    profile: rules,
    strict: options.strict ?? false,
    timeoutMs: options.timeoutMs ?? limits.callTimeoutMs.default,
    totalMs: options.maxTotalMs ?? limits.callTotalMs.default,
    probeMs: options.probeMs ?? limits.probeMs.default,
    restart: restartOf(options.restart),
    heartbeat: {
      everyMs: options.heartbeat?.everyMs ?? limits.heartbeatMs.default,
      waitMs: options.heartbeat?.waitMs ?? limits.heartbeatWaitMs.default,
    },
    remember: options.remember ?? { target: '', verdicts: new Map() },
    clock: clock ?? systemClock,
    deadlines: clock === undefined ? systemDeadlines : new Deadlines(clock),
    onError: options.onError ?? printError,
    fromWire: (error, revision) => fromWire(error, { profile: rules, revision }),
  }
}

/** Whether several messages may travel as one: as the profile says, or else the revision. */
export function hasBatches({ batches }: Profile, revision: Revision | undefined): boolean {
  return batches === 'auto' ? (revision?.batches ?? false) : batches === 'always'
}

function known(revision: string | Revision): Revision {
  if (typeof revision !== 'string') return revision
  const found = revisionNamed(revision)
  if (found === undefined) throw new TypeError(`there is no revision "${revision}"`)
  return found
}

function infoOf(options: ClientOptions): Implementation {
  const { name = 'trunkline', version = ownVersion } = options
  const { title, description, websiteUrl, icons } = options
  return { name, version, title, description, websiteUrl, icons }
}

function restartOf(options: ClientOptions['restart']): RestartPolicy {
  const wanted = options === false ? { attempts: 0 } : (options ?? {})
  return {
    attempts: wanted.attempts ?? limits.reconnects.default,
    baseMs: wanted.baseMs ?? limits.reconnectMs.default,
    maxMs: wanted.maxMs ?? limits.reconnectMaxMs.default,
    steadyMs: wanted.steadyMs ?? limits.steadyMs.default,
    random: wanted.random ?? Math.random,
  }
}

function printError(error: unknown): void {
  console.error('trunkline client:', error)
}

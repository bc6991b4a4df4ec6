import { isCallerCredentials } from '../../mcp/callers/caller-credentials.ts'
import { isCredentials } from '../../mcp/credentials.ts'
import type { UpstreamOptions } from '../options.ts'
import type { RouterConfig } from './read.ts'
import { fieldsOf } from './schema.ts'

/** The differences between two configurations. Servers are identified by name. */
export interface ConfigDiff {
  /** Servers that are new or no longer disabled. */
  readonly added: readonly string[]
  /** Servers that were removed or disabled. */
  readonly removed: readonly string[]
  /** Servers that must be restarted or reconnected, because their command, address or credentials changed. */
  readonly changed: readonly string[]
  /** Servers whose limits, rules or timeouts changed; connections and processes are kept. */
  readonly adjusted: readonly string[]
  /** Servers that are the same in both configurations. */
  readonly unchanged: readonly string[]
  /** Whether the set of listen addresses changed; their order is irrelevant. */
  readonly listenChanged: boolean
  /** Whether the access policy changed, or the path of its file. */
  readonly policyChanged: boolean
  /** Settings of the router itself that changed: `instructions`, `limits`, `public`, … */
  readonly settings: readonly string[]
}

/** Compares two configurations by value; comments and member order are irrelevant. */
export function diffConfig(before: RouterConfig, after: RouterConfig): ConfigDiff {
  const [old, now] = [active(before), active(after)]
  const kept = [...now].flatMap(([name, options]) => {
    const earlier = old.get(name)
    return earlier === undefined ? [] : [{ name, change: changeOf(earlier, options) }]
  })
  const named = (change: ServerChange) =>
    kept.filter(entry => entry.change === change).map(entry => entry.name)
  return {
    added: [...now.keys()].filter(name => !old.has(name)),
    removed: [...old.keys()].filter(name => !now.has(name)),
    changed: named('changed'),
    adjusted: named('adjusted'),
    unchanged: named('unchanged'),
    listenChanged: !isSame(before.listen.toSorted(), after.listen.toSorted()),
    policyChanged: !isSame(before.policy, after.policy),
    settings: settingsChanged(before, after),
  }
}

/** The effect of new options on a server: reconnect, apply in place, or none. */
export type ServerChange = 'changed' | 'adjusted' | 'unchanged'

/** Returns the servers that are not disabled. */
function active({ servers }: RouterConfig): ReadonlyMap<string, UpstreamOptions> {
  return new Map(Object.entries(servers).filter(([, options]) => options.disabled !== true))
}

/** Returns what it takes to apply the new options to a server. */
export function changeOf(before: UpstreamOptions, after: UpstreamOptions): ServerChange {
  // Endpoints, middleware and credentials are compared by identity.
  if (before.server !== after.server || !isSame(before.use, after.use)) return 'changed'
  if (before.configError !== after.configError) return 'changed'
  for (const name of ['auth', 'lister'] as const) {
    const [old, now] = [before[name], after[name]]
    if ([old, now].some(isObjectOfCode) && old !== now) return 'changed'
  }
  let change: ServerChange = 'unchanged'
  for (const [name, { reconnects, default: byDefault }] of fieldsOf('server')) {
    // Writing out a default is not a change.
    const old = memberOf(before, name) ?? byDefault
    const now = memberOf(after, name) ?? byDefault
    if (name === 'disabled' || isSame(old, now)) continue
    if (reconnects) return 'changed'
    change = 'adjusted'
  }
  return change
}

function isObjectOfCode(auth: unknown): boolean {
  return isCredentials(auth) || isCallerCredentials(auth)
}

function settingsChanged(before: RouterConfig, after: RouterConfig): readonly string[] {
  const settings = (config: RouterConfig) => {
    const { router, viewAddresses, tls, auth, audit, vault } = config
    const { public: isPublic, metrics, console: itsConsole, logLevel } = config
    return {
      ...router,
      views: [router.views ?? {}, viewAddresses],
      tls,
      auth,
      audit,
      vault,
      public: isPublic,
      metrics,
      console: itsConsole,
      logLevel,
    }
  }
  const [old, now] = [settings(before), settings(after)]
  return Array.from(fieldsOf('file').keys()).filter(
    name => !isSame(memberOf(old, name), memberOf(now, name)),
  )
}

function memberOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined
}

/** Whether two JSON values are equal; a member that is undefined counts as absent. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
    return one.every((item, at) => isSame(item, other[at]))
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every(name => isSame(memberOf(one, name), memberOf(other, name)))
}

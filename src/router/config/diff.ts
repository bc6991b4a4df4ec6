import type { UpstreamOptions } from '../options.ts'
import type { RouterConfig } from './read.ts'
import { fieldsOf } from './schema.ts'

/** What has to be done to get from one configuration to another. Servers are told by their names. */
export interface ConfigDiff {
  /** New, or no longer disabled. */
  readonly added: readonly string[]
  /** Gone, or disabled. */
  readonly removed: readonly string[]
  /** To be ended and started again: their programs, addresses or credentials are others. */
  readonly changed: readonly string[]
  /** Only what is allowed, shown or waited for has changed: connections and processes stay. */
  readonly adjusted: readonly string[]
  readonly unchanged: readonly string[]
  /** Whether the addresses are others. Their order does not matter. */
  readonly listenChanged: boolean
  /** Settings of the router itself that are others: `instructions`, `limits`, `public`, … */
  readonly settings: readonly string[]
}

/** Compares two configurations by what they mean: neither comments nor the order of members count. */
export function diffConfig(before: RouterConfig, after: RouterConfig): ConfigDiff {
  const [old, now] = [active(before), active(after)]
  const kept = [...now].flatMap(([name, options]) => {
    const earlier = old.get(name)
    return earlier === undefined ? [] : [{ name, change: changeOf(earlier, options) }]
  })
  const named = (change: Change) =>
    kept.filter(entry => entry.change === change).map(entry => entry.name)
  return {
    added: [...now.keys()].filter(name => !old.has(name)),
    removed: [...old.keys()].filter(name => !now.has(name)),
    changed: named('changed'),
    adjusted: named('adjusted'),
    unchanged: named('unchanged'),
    listenChanged: !isSame(before.listen.toSorted(), after.listen.toSorted()),
    settings: settingsChanged(before, after),
  }
}

/** Started again, told of something new, or left alone. */
export type Change = 'changed' | 'adjusted' | 'unchanged'

/** The servers that are started. */
function active({ servers }: RouterConfig): ReadonlyMap<string, UpstreamOptions> {
  return new Map(Object.entries(servers).filter(([, options]) => options.disabled !== true))
}

/** What a server has to be put through for its options to hold. */
export function changeOf(before: UpstreamOptions, after: UpstreamOptions): Change {
  // Objects of a program are the same only where they are the very same.
  if (before.server !== after.server || !isSame(before.use, after.use)) return 'changed'
  let change: Change = 'unchanged'
  for (const [name, { reconnects, default: usual }] of fieldsOf('server')) {
    // To write down what holds anyway is no change.
    const old = memberOf(before, name) ?? usual
    const now = memberOf(after, name) ?? usual
    if (name === 'disabled' || isSame(old, now)) continue
    if (reconnects) return 'changed'
    change = 'adjusted'
  }
  return change
}

function settingsChanged(before: RouterConfig, after: RouterConfig): readonly string[] {
  const settings = ({ router, public: isPublic, metrics, logLevel }: RouterConfig) => ({
    ...router,
    public: isPublic,
    metrics,
    logLevel,
  })
  const [old, now] = [settings(before), settings(after)]
  return Array.from(fieldsOf('file').keys()).filter(
    name => !isSame(memberOf(old, name), memberOf(now, name)),
  )
}

function memberOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined
}

/** Whether two values of JSON are the same; a member without a value is none. */
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

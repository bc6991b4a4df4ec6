import { newest, type Revision } from '../../mcp/revisions/revisions.ts'
import { limits } from '../../util/limits/limits.ts'
import type { KnownVersion, VersionStore } from '../options.ts'
import type { Settings } from '../settings.ts'

/**
 * Returns the newest allowed revision of the era that earlier connections found this server to be of, or
 * undefined if that is unknown or no longer counts. An entry expires after `versionCacheMs`, unless it is
 * of the newest era: a server that has been upgraded still answers clients of the older one, so nothing
 * else would ever show the upgrade.
 */
export function cachedRevision({ versionCache, revisions }: Settings): Revision | undefined {
  const known = versionCache.store.get(versionCache.key)
  const revision = known === undefined ? undefined : newest(known.era, revisions)
  if (known === undefined || revision === revisions.at(-1)) return revision
  return Date.now() - known.at < limits.versionCacheMs.default ? revision : undefined
}

/** Stores the era of this server, with the current date. */
export function storeVersion({ versionCache }: Settings, era: KnownVersion['era']): void {
  versionCache.store.set(versionCache.key, { era, at: Date.now() })
}

/** Removes the entry of this server, because the server did not behave accordingly. */
export function forgetVersion({ versionCache }: Settings): void {
  versionCache.store.delete(versionCache.key)
}

/** Creates a store in memory with room for `max` servers. The least recently stored entry is dropped first. */
export function boundedVersionStore(
  max: number = limits.versionCacheEntries.default,
): VersionStore {
  const entries = new Map<string, KnownVersion>()
  return {
    get: key => entries.get(key),
    set: (key, version) => {
      entries.delete(key)
      entries.set(key, version)
      const [oldest] = entries.keys()
      if (entries.size > max && oldest !== undefined) entries.delete(oldest)
    },
    delete: key => entries.delete(key),
  }
}

/** The version cache of this process, which `connect` uses by default. */
export const knownServers: VersionStore = boundedVersionStore()

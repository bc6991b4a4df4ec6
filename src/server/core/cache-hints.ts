import type { CacheableMethod } from '../../mcp/methods.ts'
import type { CacheHints } from '../../mcp/types/base.ts'

/** The option `cache`: how long clients may cache results, by default and for each kind of result. */
export interface ServerCache extends CacheHints {
  /** For `server/discover`. */
  readonly discover?: CacheHints
  /** For the list of tools. */
  readonly tools?: CacheHints
  /** For the list of resources. */
  readonly resources?: CacheHints
  /** For the list of resource templates. */
  readonly resourceTemplates?: CacheHints
  /** For the list of prompts. */
  readonly prompts?: CacheHints
  /** For the list of skills and its entries. */
  readonly skills?: CacheHints
  /** For the contents of resources, unless their definitions have hints. */
  readonly contents?: CacheHints
}

/** Cache hints as results carry them. Without options nothing may be cached. */
export interface FullCacheHints {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** The hints for each method whose results have them. Throws a TypeError for invalid hints. */
export function cacheHintsByMethod(cache: ServerCache = {}): ReadonlyMap<string, FullCacheHints> {
  const { discover, tools, resources, resourceTemplates, prompts, skills, contents, ...general } =
    cache
  checkHints('option "cache"', general)
  const byMethod: Readonly<Record<CacheableMethod, CacheHints | undefined>> = {
    'server/discover': discover,
    'tools/list': tools,
    'resources/list': resources,
    'resources/templates/list': resourceTemplates,
    'resources/read': contents,
    'prompts/list': prompts,
    'skills/list': skills,
    'skills/get': skills,
  }
  return new Map(
    Object.entries(byMethod).map(([method, own]) => {
      checkHints(`option "cache" for ${method}`, own)
      const ttlMs = own?.ttlMs ?? general.ttlMs ?? 0
      return [method, { ttlMs, cacheScope: own?.cacheScope ?? general.cacheScope ?? 'private' }]
    }),
  )
}

/** The methods whose results clients may share between principals. */
export function publicLists(cache: ServerCache | undefined): ReadonlySet<string> {
  const all = [...cacheHintsByMethod(cache)]
  return new Set(all.filter(([, hints]) => hints.cacheScope === 'public').map(([method]) => method))
}

/** Throws a TypeError for invalid hints. `what` begins its message. */
export function checkHints(what: string, hints: CacheHints | undefined): void {
  const { ttlMs = 0, cacheScope = 'private' } = hints ?? {}
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 0) {
    throw new TypeError(`${what}: ttlMs must be an integer ≥ 0 (got ${ttlMs})`)
  }
  if (cacheScope !== 'public' && cacheScope !== 'private') {
    throw new TypeError(`${what}: cacheScope must be "public" or "private" (got "${cacheScope}")`)
  }
}

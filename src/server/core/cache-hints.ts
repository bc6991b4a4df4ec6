import type { CacheHints } from '../../mcp/types/base.ts'

/** How long results may be kept, each of them and those of one method. */
export interface ServerCache extends CacheHints {
  /** What `server/discover` says. */
  readonly discover?: CacheHints
  /** The list of tools; the same for the other three. */
  readonly tools?: CacheHints
  readonly resources?: CacheHints
  readonly resourceTemplates?: CacheHints
  readonly prompts?: CacheHints
  /** What resources hold, unless their definitions say otherwise. */
  readonly contents?: CacheHints
}

/** Hints as they go into a result: nothing may be kept unless somebody said so. */
export interface WholeHints {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** The hints for each method whose results have them. Throws a TypeError for hints that are none. */
export function cachesOf(cache: ServerCache = {}): ReadonlyMap<string, WholeHints> {
  const { discover, tools, resources, resourceTemplates, prompts, contents, ...general } = cache
  checkHints('the option "cache"', general)
  const rows = [
    ['server/discover', discover],
    ['tools/list', tools],
    ['resources/list', resources],
    ['resources/templates/list', resourceTemplates],
    ['resources/read', contents],
    ['prompts/list', prompts],
  ] as const
  return new Map(
    rows.map(([method, own]) => {
      checkHints(`the option "cache" for ${method}`, own)
      const ttlMs = own?.ttlMs ?? general.ttlMs ?? 0
      return [method, { ttlMs, cacheScope: own?.cacheScope ?? general.cacheScope ?? 'private' }]
    }),
  )
}

/** Throws a TypeError for hints that no result may carry. `what` begins its message. */
export function checkHints(what: string, hints: CacheHints | undefined): void {
  const { ttlMs = 0, cacheScope = 'private' } = hints ?? {}
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 0) {
    throw new TypeError(`${what}: ttlMs is a whole number of milliseconds, not ${ttlMs}`)
  }
  if (cacheScope !== 'public' && cacheScope !== 'private') {
    throw new TypeError(`${what}: cacheScope is "public" or "private", not "${cacheScope}"`)
  }
}

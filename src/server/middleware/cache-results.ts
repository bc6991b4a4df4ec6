import type { CallToolResult } from '../../mcp/types/tools.ts'
import { canonicalJson } from '../../util/crypto/canonical-json.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Around } from '../core/around.ts'

/** The options of `cacheResults`. */
export interface CacheResultsOptions {
  /** The tools whose results are cached: those that only read. */
  readonly tools: readonly string[]
  /** How long a result is used again, in milliseconds. */
  readonly ttlMs: number
  /** The maximum number of results; beyond it the least recently used one is dropped. */
  readonly max?: number
  /** Whether all principals share results; by default each has its own. */
  readonly shared?: boolean
  /** The clock for expiry; for tests. */
  readonly clock?: Clock
}

const table: OptionTableOf<CacheResultsOptions> = {
  tools: 'strings',
  ttlMs: 'ms',
  max: 'max',
  shared: 'boolean',
  clock: 'object',
}

interface CachedResult {
  readonly result: CallToolResult
  readonly until: number
}

/**
 * A middleware that answers repeated calls of tools from memory: `server.around('tools/call',
 * cacheResults({ tools: ['search'], ttlMs: 60_000 }))`. Calls are the same if their tool, their arguments
 * and their principal are. Errors, input requests and tasks are not cached.
 */
export function cacheResults(options: CacheResultsOptions): Around<'tools/call'> {
  checkOptions(options, table)
  if (options.tools === undefined || options.ttlMs === undefined) {
    throw new TypeError(
      "cacheResults needs tools and ttlMs, such as { tools: ['search'], ttlMs: 60_000 }",
    )
  }
  const { ttlMs, shared = false, clock = systemClock } = options
  const max = options.max ?? limits.cachedCalls.default
  const tools = new Set(options.tools)
  const results = new Map<string, CachedResult>()
  return async (next, params, { principal }) => {
    if (!tools.has(params.name)) return next()
    const caller = shared ? undefined : principal?.id
    const key = canonicalJson([caller ?? null, params.name, params.arguments ?? {}])
    const known = results.get(key)
    // Removed and added again, so that the least recently used result is the first.
    results.delete(key)
    if (known !== undefined && known.until > clock.now()) {
      results.set(key, known)
      return known.result
    }
    const result = await next()
    if ('content' in result && result.isError !== true) {
      results.set(key, { result, until: clock.now() + ttlMs })
      const [oldest] = results.keys()
      if (results.size > max && oldest !== undefined) results.delete(oldest)
    }
    return result
  }
}

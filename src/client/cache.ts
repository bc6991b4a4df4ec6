import { limits } from '../util/limits/limits.ts'
import { isRecord } from '../util/objects.ts'
import type { Clock } from '../util/time/clock.ts'

/** Taken before a request is sent. Its result is cached only if nothing was invalidated in between. */
export interface Ticket {
  readonly key: string
  readonly method: string
  readonly generation: number
}

interface Entry {
  readonly method: string
  readonly uri: string | undefined
  readonly text: string
  readonly expiresAt: number
}

/**
 * Caches results of one client for the `ttlMs` that the server sets.
 *
 * The cache is never shared with another client, so `cacheScope` makes no difference here. Results are
 * kept as text, so that a caller may change a result without changing what the next caller gets.
 */
export class ResponseCache {
  readonly #clock: Clock
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>()
  #characters = 0
  /** Counts invalidations: a result requested before an invalidation must not be cached after it. */
  #generation = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.size
  }

  /** Returns a ticket; must be called before the request is sent. */
  ticket(method: string, params: object | undefined): Ticket {
    return { key: keyOf(method, params), method, generation: this.#generation }
  }

  /** Returns a copy of a fresh result; undefined if there is none. */
  get({ key }: Ticket): unknown {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.expiresAt > this.#clock.now()) return JSON.parse(entry.text)
    this.#remove(key, entry)
    return undefined
  }

  /** Caches a result if its `ttlMs` allows it. */
  put({ key, method, generation }: Ticket, params: object | undefined, result: unknown): void {
    if (!isRecord(result) || generation !== this.#generation) return
    const { ttlMs } = result
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return
    const text = JSON.stringify(result)
    if (text.length > limits.cacheCharacters.default) return
    const before = this.#entries.get(key)
    if (before !== undefined) this.#remove(key, before)
    const uri = isRecord(params) && typeof params.uri === 'string' ? params.uri : undefined
    this.#entries.set(key, { method, uri, text, expiresAt: this.#clock.now() + ttlMs })
    this.#characters += text.length
    this.#shrink()
  }

  /** Drops the results of some methods; with a `uri` only those of this resource, its parents and children. */
  invalidate(methods: readonly string[], uri?: string): void {
    this.#generation++
    for (const [key, entry] of this.#entries) {
      if (!methods.includes(entry.method)) continue
      if (uri === undefined || entry.uri === undefined || isRelated(entry.uri, uri)) {
        this.#remove(key, entry)
      }
    }
  }

  /** Drops all results. */
  clear(): void {
    this.#generation++
    this.#entries.clear()
    this.#characters = 0
  }

  #remove(key: string, entry: Entry): void {
    if (this.#entries.delete(key)) this.#characters -= entry.text.length
  }

  #shrink(): void {
    for (const [key, entry] of this.#entries) {
      const isFull =
        this.#entries.size > limits.cacheEntries.default ||
        this.#characters > limits.cacheCharacters.default
      if (!isFull) break
      this.#remove(key, entry)
    }
  }
}

/** Whether the URI `inner` is `outer` or below it. */
export function isWithin(inner: string, outer: string): boolean {
  if (!inner.startsWith(outer)) return false
  return (
    inner.length === outer.length ||
    outer.endsWith('/') ||
    '/?#'.includes(inner.charAt(outer.length))
  )
}

function isRelated(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one)
}

/** Returns the cache key: the method and the params without `_meta`, which does not affect the result. */
function keyOf(method: string, params: object | undefined): string {
  const { _meta, ...rest } = isRecord(params) ? params : {}
  return `${method} ${JSON.stringify(rest, sorted)}`
}

function sorted(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

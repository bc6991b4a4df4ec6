import { limits } from '../util/limits/limits.ts'
import { isRecord } from '../util/record.ts'
import type { Clock } from '../util/time/clock.ts'

/** Whether a result may be put into the cache: not if what it tells of changed while it was under way. */
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
 * Results of one client for as long as their server says they stay fresh.
 *
 * Never shared with another client, so that `cacheScope` makes no difference here. Results are kept as
 * text: whoever gets one may change it without changing what the next one gets.
 */
export class ResponseCache {
  readonly #clock: Clock
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>()
  #characters = 0
  /** Counts what changed: a result asked for before a change must not be kept after it. */
  #generation = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.size
  }

  /** Called before a request is sent. */
  ticket(method: string, params: object | undefined): Ticket {
    return { key: keyOf(method, params), method, generation: this.#generation }
  }

  /** A fresh result, as if it had just arrived; undefined when there is none. */
  get({ key }: Ticket): unknown {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.expiresAt > this.#clock.now()) return JSON.parse(entry.text)
    this.#remove(key, entry)
    return undefined
  }

  /** Keeps a result if its own hints allow it. */
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

  /** Drops the results of some methods; with a `uri` only those that are about it or part of it. */
  invalidate(methods: readonly string[], uri?: string): void {
    this.#generation++
    for (const [key, entry] of this.#entries) {
      if (!methods.includes(entry.method)) continue
      if (uri === undefined || entry.uri === undefined || isRelated(entry.uri, uri)) {
        this.#remove(key, entry)
      }
    }
  }

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

/** Whether `inner` is `outer` or lies below it. */
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

/** The method and its params; what `_meta` says of the request does not change its result. */
function keyOf(method: string, params: object | undefined): string {
  const { _meta, ...rest } = isRecord(params) ? params : {}
  return `${method} ${JSON.stringify(rest, sorted)}`
}

function sorted(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

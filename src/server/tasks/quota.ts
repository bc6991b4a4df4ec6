/** The limits of a Quota. */
export interface QuotaLimits {
  readonly max: number
  readonly maxPerCaller: number
  /** The limit of bytes of all tasks; half of it holds for one caller. One task alone may have more. */
  readonly maxBytes: number
}

/** The tasks of one caller, in the order in which they were added, with their bytes. */
interface OwnTasks {
  readonly ids: Map<string, number>
  bytes: number
}

/** Tasks in the order in which they were added, with limits for all of them and for one caller. */
export class Quota {
  readonly #limits: QuotaLimits
  readonly #callers = new Map<string, string>()
  readonly #own = new Map<string, OwnTasks>()
  #bytes = 0
  #last = ''

  constructor(limits: QuotaLimits) {
    this.#limits = limits
  }

  add(id: string, caller: string, bytes: number): void {
    this.#callers.set(id, caller)
    const own = this.#own.get(caller) ?? { ids: new Map(), bytes: 0 }
    this.#own.set(caller, own)
    own.ids.set(id, bytes)
    own.bytes += bytes
    this.#bytes += bytes
    this.#last = caller
  }

  delete(id: string): void {
    const caller = this.#callers.get(id) ?? ''
    const own = this.#own.get(caller)
    const bytes = own?.ids.get(id)
    if (own === undefined || bytes === undefined) return
    this.#callers.delete(id)
    own.ids.delete(id)
    own.bytes -= bytes
    this.#bytes -= bytes
    if (own.ids.size === 0) this.#own.delete(caller)
  }

  /** The oldest task of the caller that was added to last, or of all, if those are too many. */
  excess(): string | undefined {
    const { max, maxPerCaller, maxBytes } = this.#limits
    const own = this.#own.get(this.#last)
    if (own !== undefined) {
      const isOver = own.ids.size > 1 && own.bytes > maxBytes / 2
      if (isOver || own.ids.size > maxPerCaller) return first(own.ids.keys())
    }
    const isOver = this.#callers.size > 1 && this.#bytes > maxBytes
    return isOver || this.#callers.size > max ? first(this.#callers.keys()) : undefined
  }
}

function first<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item
  return undefined
}

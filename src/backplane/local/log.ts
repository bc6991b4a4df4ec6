import { fencedError } from '../backplane-error.ts'
import { isAfter } from '../input-checks.ts'
import type { LogEntry, LogPage, LogPosition, LogRetention, SharedLog } from '../log.ts'
import { exactly, living } from '../rules/moment.ts'
import type { LocalEngine } from './engine.ts'
import type { LogHead } from './tables.ts'

/** Logs in the tables of a local engine. */
export class LocalLog implements SharedLog {
  readonly #engine: LocalEngine

  constructor(engine: LocalEngine) {
    this.#engine = engine
  }

  async append(key: string, entries: readonly LogEntry[], retention: LogRetention): Promise<void> {
    return this.#engine.runGrowing(() => {
      const { logs } = this.#engine.tables
      const now = this.#engine.now()
      const head = living(logs.head(key), exactly(now))
      const fresh = entries.filter(entry => !this.#isStored(key, entry, head))
      if (head === undefined) logs.delete(key)
      for (const entry of fresh) logs.insert(key, entry)
      const last = fresh.at(-1) ?? head?.last
      if (last === undefined) return
      const removed = logs.trim(key, retention.max) ?? head?.removed
      const until = Math.max(now + retention.ttlMs, head?.until ?? 0)
      logs.setHead(key, { last: { epoch: last.epoch, n: last.n }, removed, until })
      this.#engine.tables.sweep(now)
    })
  }

  async readAfter(key: string, position: LogPosition | undefined, max: number): Promise<LogPage> {
    return this.#engine.run(() => {
      const { logs } = this.#engine.tables
      const head = living(logs.head(key), exactly(this.#engine.now()))
      if (head === undefined) return { entries: [], isComplete: position === undefined }
      const isComplete =
        head.removed === undefined || (position !== undefined && !isAfter(head.removed, position))
      return { entries: logs.range(key, position, max), isComplete }
    })
  }

  async delete(key: string): Promise<void> {
    return this.#engine.run(() => this.#engine.tables.logs.delete(key))
  }

  /** Returns whether an entry is stored already, or was and has been removed; throws if it cannot be appended. */
  #isStored(key: string, entry: LogEntry, head: LogHead | undefined): boolean {
    if (head === undefined || isAfter(entry, head.last)) return false
    const stored = this.#engine.tables.logs.entry(key, entry)
    if (stored !== undefined && hasSameFields(stored, entry)) return true
    const { removed } = head
    const wasRemoved = removed !== undefined && !isAfter(entry, removed)
    if (wasRemoved && head.last.epoch === entry.epoch) return true
    throw fencedError(key, undefined)
  }
}

function hasSameFields(one: LogEntry, other: LogEntry): boolean {
  const names = Object.keys(one.fields)
  const isSame = names.every(name => one.fields[name] === other.fields[name])
  return isSame && names.length === Object.keys(other.fields).length
}

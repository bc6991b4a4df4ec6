import { limits } from '../../util/limits/limits.ts'
import { BackplaneError } from '../backplane-error.ts'
import type {
  ClaimResult,
  OwnedWrite,
  RecordOwner,
  RecordStore,
  RecordWrite,
  StoredRecord,
  SwapResult,
} from '../record-store.ts'
import { exactly, living } from '../rules/moment.ts'
import {
  type ClaimRequest,
  claimed,
  deleted,
  put,
  type RecordRow,
  shown,
  swapped,
  touched,
} from '../rules/records.ts'
import type { LocalEngine } from './engine.ts'
import type { SetRow } from './tables.ts'

/** Records and sets in the tables of a local engine. */
export class LocalStore implements RecordStore {
  readonly #engine: LocalEngine

  constructor(engine: LocalEngine) {
    this.#engine = engine
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    return this.#engine.run(() => shown(this.#row(key)))
  }

  async getAll(keys: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    return this.#engine.run(() => keys.map(key => shown(this.#row(key))))
  }

  async claim(
    key: string,
    from: string | undefined,
    node: string,
    write?: RecordWrite,
  ): Promise<ClaimResult> {
    return this.#engine.runGrowing(() => this.#claim({ key, from, node, write }))
  }

  async put(key: string, write: OwnedWrite, owner: RecordOwner): Promise<void> {
    return this.#engine.runGrowing(() => {
      this.#set(key, put(key, this.#row(key), write, owner, this.#moment()))
    })
  }

  async swap(key: string, before: string | undefined, write: RecordWrite): Promise<SwapResult> {
    return this.#engine.runGrowing(() => {
      const { result, row } = swapped(key, this.#row(key), before, write, this.#moment())
      if (row !== undefined) this.#set(key, row)
      return result
    })
  }

  async delete(key: string, owner?: RecordOwner): Promise<boolean> {
    return this.#engine.run(() => {
      const moment = this.#moment()
      const { result, row } = deleted(key, this.#row(key), owner, moment)
      if (row === undefined) return result
      if (row.until > moment.least) this.#set(key, row)
      else this.#engine.tables.records.delete(key)
      return result
    })
  }

  async touch(keys: readonly string[], ttlMs: number): Promise<void> {
    return this.#engine.run(() => {
      for (const key of keys) {
        const row = touched(this.#row(key), ttlMs, this.#moment())
        if (row !== undefined) this.#set(key, row)
      }
    })
  }

  async add(set: string, name: string, ttlMs: number, max?: number): Promise<void> {
    return this.#engine.runGrowing(() => {
      const { tables } = this.#engine
      const now = this.#engine.now()
      const isThere = (tables.sets.get(set, name) ?? 0) > now
      if (max !== undefined && !isThere && tables.sets.count(set, now) >= max) {
        throw new BackplaneError('full', `the set "${set}" has ${max} names already`)
      }
      tables.sets.set(set, name, now + ttlMs)
      tables.sweep(now)
    })
  }

  async remove(set: string, name: string): Promise<void> {
    return this.#engine.run(() => this.#engine.tables.sets.delete(set, name))
  }

  async *names(set: string): AsyncGenerator<readonly string[]> {
    const max = limits.clusterPage.default
    let last: SetRow | undefined
    do {
      const rows = await this.#engine.run(() =>
        this.#engine.tables.sets.page(set, last, max, this.#engine.now()),
      )
      if (rows.length > 0) yield rows.map(row => row.name)
      last = rows.length === max ? rows.at(-1) : undefined
    } while (last !== undefined)
  }

  #claim(request: ClaimRequest): ClaimResult {
    const { key } = request
    const { logs } = this.#engine.tables
    const moment = this.#moment()
    const before = this.#row(key)
    const head = living(logs.head(key), moment)
    const { result, row } = claimed(before, head?.last.epoch ?? 0, request, moment)
    if (row === undefined) return result
    this.#set(key, row)
    if (head !== undefined || before?.node !== undefined) {
      if (head === undefined) logs.delete(key)
      const until = Math.max(row.until, head?.until ?? 0)
      logs.setHead(key, { removed: head?.removed, last: { epoch: row.epoch, n: 0 }, until })
    }
    return result
  }

  #set(key: string, row: RecordRow): void {
    this.#engine.tables.records.set(key, row)
    this.#engine.tables.sweep(this.#engine.now())
  }

  #row(key: string): RecordRow | undefined {
    return living(this.#engine.tables.records.get(key), this.#moment())
  }

  #moment() {
    return exactly(this.#engine.now())
  }
}

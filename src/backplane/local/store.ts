import { limits } from '../../util/limits/limits.ts'
import { BackplaneError, fencedError, finalError } from '../backplane-error.ts'
import type {
  ClaimResult,
  OwnedWrite,
  RecordOwner,
  RecordStore,
  RecordWrite,
  StoredRecord,
  SwapResult,
} from '../record-store.ts'
import type { LocalEngine } from './engine.ts'
import type { LogHead, RecordRow, SetRow } from './tables.ts'

/** Records in the tables of a local engine. The rules are those of the scripts in `redis/scripts/`. */
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
    return this.#engine.runGrowing(() => this.#claim(key, from, node, write))
  }

  async put(key: string, write: OwnedWrite, owner: RecordOwner): Promise<void> {
    return this.#engine.runGrowing(() => {
      const row = this.#row(key)
      if (row === undefined) {
        if (write.mustExist === true) throw fencedError(key, undefined)
      } else {
        if (row.isFinal && !isRepeated(row, write, owner)) throw finalError(key)
        this.#fence(key, row, owner)
        if (row.isDeleted && row.epoch === owner.epoch) throw fencedError(key, ownerOf(row))
      }
      this.#write(key, write, owner)
    })
  }

  async swap(key: string, before: string | undefined, write: RecordWrite): Promise<SwapResult> {
    return this.#engine.runGrowing(() => {
      const row = this.#row(key)
      const owner = row && ownerOf(row)
      if (owner !== undefined) throw fencedError(key, owner)
      if (row?.value !== before) return answer(false, row?.value)
      if (row?.isFinal) throw finalError(key)
      this.#write(key, write, undefined)
      return answer(true, write.value)
    })
  }

  async delete(key: string, owner?: RecordOwner): Promise<boolean> {
    return this.#engine.run(() => {
      const row = this.#row(key)
      const wasThere = row !== undefined && !row.isDeleted
      if (owner === undefined) {
        const stored = row && ownerOf(row)
        if (stored !== undefined && wasThere) throw fencedError(key, stored)
        if (wasThere) this.#engine.tables.records.delete(key)
        return wasThere
      }
      if (row !== undefined) this.#fence(key, row, owner)
      const until = this.#engine.now() + limits.tombstoneMs.default
      const deleted = { value: '', isFinal: false, isDeleted: true, until }
      this.#engine.tables.records.set(key, { ...deleted, node: owner.node, epoch: owner.epoch })
      return wasThere
    })
  }

  async touch(keys: readonly string[], ttlMs: number): Promise<void> {
    return this.#engine.run(() => {
      const until = this.#engine.now() + ttlMs
      for (const key of keys) {
        const row = this.#row(key)
        if (row === undefined || row.isDeleted || row.until >= until) continue
        this.#engine.tables.records.set(key, { ...row, until })
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

  #claim(
    key: string,
    from: string | undefined,
    node: string,
    write: RecordWrite | undefined,
  ): ClaimResult {
    const row = this.#row(key)
    const previous = shown(row)
    if (row !== undefined && previous !== undefined) {
      if (row.isFinal) throw finalError(key)
      const owner = ownerOf(row)
      if (owner !== undefined && owner.node !== from) return { isOwner: false, owner }
    }
    if (previous === undefined && write === undefined) return { isOwner: false }
    const { logs } = this.#engine.tables
    const now = this.#engine.now()
    const head = living(logs.head(key), now)
    const epoch = Math.max(
      Math.floor(now * 1000),
      (row?.epoch ?? 0) + 1,
      (head?.last.epoch ?? 0) + 1,
    )
    const until = write === undefined ? (row?.until ?? now) : now + write.ttlMs
    const { value, isFinal = false } = write ?? { value: row?.value ?? '' }
    this.#engine.tables.records.set(key, { value, node, epoch, isFinal, isDeleted: false, until })
    if (head !== undefined || row?.node !== undefined) {
      if (head === undefined) logs.delete(key)
      const last = { epoch, n: 0 }
      logs.setHead(key, { removed: head?.removed, last, until: Math.max(until, head?.until ?? 0) })
    }
    this.#engine.tables.sweep(now)
    return previous === undefined ? { isOwner: true, epoch } : { isOwner: true, epoch, previous }
  }

  /** Throws if another owner has a greater epoch, or the same one and a greater name. */
  #fence(key: string, row: RecordRow, { node, epoch }: RecordOwner): void {
    const isOlder =
      epoch === row.epoch ? row.node !== undefined && node < row.node : epoch < row.epoch
    if (isOlder) throw fencedError(key, ownerOf(row))
  }

  #write(key: string, write: RecordWrite, owner: RecordOwner | undefined): void {
    const { value, ttlMs, isFinal = false } = write
    const now = this.#engine.now()
    const epoch = owner?.epoch ?? 0
    const row = { value, isFinal, isDeleted: false, node: owner?.node, epoch, until: now + ttlMs }
    this.#engine.tables.records.set(key, row)
    this.#engine.tables.sweep(now)
  }

  #row(key: string): RecordRow | undefined {
    return living(this.#engine.tables.records.get(key), this.#engine.now())
  }
}

/** Returns a row unless its time is over. */
export function living<T extends RecordRow | LogHead>(
  row: T | undefined,
  now: number,
): T | undefined {
  return row !== undefined && row.until > now ? row : undefined
}

function shown(row: RecordRow | undefined): StoredRecord | undefined {
  if (row === undefined || row.isDeleted) return undefined
  const { value, isFinal } = row
  const owner = ownerOf(row)
  return owner === undefined ? { value, isFinal } : { value, owner, isFinal }
}

function ownerOf({ node, epoch }: RecordRow): RecordOwner | undefined {
  return node === undefined ? undefined : { node, epoch }
}

function isRepeated(row: RecordRow, write: OwnedWrite, { node, epoch }: RecordOwner): boolean {
  const isSame = row.value === write.value && write.isFinal === true
  return isSame && row.node === node && row.epoch === epoch
}

function answer(isDone: boolean, now: string | undefined): SwapResult {
  return now === undefined ? { isDone } : { isDone, now }
}

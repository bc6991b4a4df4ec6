import { limits } from '../../util/limits/limits.ts'
import { inBatches } from '../../util/promises.ts'
import type { Clock } from '../../util/time/clock.ts'
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
import type { Moment } from '../rules/moment.ts'
import {
  claimed,
  deleted,
  put,
  type RecordChange,
  type RecordRow,
  shown,
  swapped,
  touched,
} from '../rules/records.ts'
import type { Document, DocumentRule, Documents } from './documents.ts'
import type { EngineTime } from './engine/engine-time.ts'
import type { NatsSubjects } from './engine/subjects.ts'
import type { NatsLog } from './log.ts'
import { added, type NameSet, namesOf, removed } from './name-sets.ts'
import type { RecordValue } from './record-texts.ts'
import { remainingMs } from './remaining-time.ts'

/** What a store needs. */
export interface NatsStoreOptions {
  readonly records: Documents<RecordValue>
  readonly sets: Documents<NameSet>
  readonly subjects: NatsSubjects
  readonly time: EngineTime
  readonly clock: Clock
  readonly log: NatsLog
}

/** Operations on many keys run in batches of this size, so that they leave room for others. */
const batch = 100

/** Records and sets in an engine: each is one document. */
export class NatsStore implements RecordStore {
  readonly #options: NatsStoreOptions

  constructor(options: NatsStoreOptions) {
    this.#options = options
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    const { records, subjects } = this.#options
    const document = await records.get(subjects.record(key))
    return document && shown(rowOf(document))
  }

  async getAll(keys: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    return inBatches(keys, batch, key => this.get(key))
  }

  async claim(
    key: string,
    from: string | undefined,
    node: string,
    write?: RecordWrite,
  ): Promise<ClaimResult> {
    const { records, subjects, log, clock } = this.#options
    const leftMs = remainingMs(clock)
    let logEpoch = await log.epochOf(key, leftMs())
    let former = from
    for (;;) {
      const request = { key, from: former, node, write }
      const epochBefore = logEpoch
      const rule: DocumentRule<RecordValue, [ClaimResult, until?: number]> = (document, moment) => {
        const stored = document && rowOf(document)
        const { result, row } = claimed(stored, epochBefore ?? 0, request, moment)
        // If this node is the owner already, an earlier claim may have failed before it fenced the log.
        const isUnfinished = document?.value.fencesLog === true && stored?.node === node
        if (row === undefined) return { result: [result, isUnfinished ? stored.until : undefined] }
        const fencesLog = epochBefore !== undefined || stored?.node !== undefined
        const next = { value: { ...row, fencesLog }, until: row.until }
        return { result: [result, fencesLog ? row.until : undefined], next }
      }
      const [result, until] = await records.update(subjects.record(key), rule, leftMs())
      const epoch = result.isOwner ? result.epoch : result.owner?.epoch
      if (until === undefined || epoch === undefined) return result
      logEpoch = await log.fence(key, { epoch, until }, leftMs()).catch(cause => {
        throw new BackplaneError('unknown', `the log of "${key}" was not fenced`, { cause })
      })
      if (logEpoch <= epoch || !result.isOwner) return result
      // Meanwhile an entry of an even greater epoch was appended: claim again, from this node.
      former = node
    }
  }

  async put(key: string, write: OwnedWrite, owner: RecordOwner): Promise<void> {
    await this.#change(key, (row, moment) => ({
      result: undefined,
      row: put(key, row, write, owner, moment),
    }))
  }

  async swap(key: string, before: string | undefined, write: RecordWrite): Promise<SwapResult> {
    return this.#change(key, (row, moment) => swapped(key, row, before, write, moment))
  }

  async delete(key: string, owner?: RecordOwner): Promise<boolean> {
    return this.#change(key, (row, moment) => deleted(key, row, owner, moment))
  }

  async touch(keys: readonly string[], ttlMs: number): Promise<void> {
    await inBatches(keys, batch, key =>
      this.#change(key, (row, moment) => {
        const next = touched(row, ttlMs, moment)
        return next === undefined ? { result: undefined } : { result: undefined, row: next }
      }),
    )
  }

  async add(set: string, name: string, ttlMs: number, max?: number): Promise<void> {
    const { sets, subjects } = this.#options
    try {
      await sets.update(subjects.set(set), (document, moment) =>
        added(document, { set, name, ttlMs, max }, moment),
      )
    } catch (error) {
      if (!(error instanceof BackplaneError && error.code === 'too-large')) throw error
      throw new BackplaneError('full', `the set "${set}" has no room: ${error.message}`)
    }
  }

  async remove(set: string, name: string): Promise<void> {
    const { sets, subjects } = this.#options
    await sets.update(subjects.set(set), document => removed(document, name))
  }

  async *names(set: string): AsyncGenerator<readonly string[]> {
    const { sets, subjects, time } = this.#options
    const names = namesOf(await sets.get(subjects.set(set)), time.moment())
    const max = limits.clusterPage.default
    for (let at = 0; at < names.length; at += max) yield names.slice(at, at + max)
  }

  #change<T>(
    key: string,
    rule: (row: RecordRow | undefined, moment: Moment) => RecordChange<T>,
  ): Promise<T> {
    const { records, subjects } = this.#options
    const change: DocumentRule<RecordValue, T> = (document, moment) => {
      const { result, row } = rule(document && rowOf(document), moment)
      return row === undefined ? { result } : { result, next: { value: row, until: row.until } }
    }
    return records.update(subjects.record(key), change)
  }
}

function rowOf({ value, until }: Document<RecordValue>): RecordRow {
  return { ...value, until }
}

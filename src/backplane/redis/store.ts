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
import type { RedisEngine } from './engine.ts'
import { arrayReply, numberReply, textReply } from './replies.ts'
import {
  addScript,
  claimScript,
  deleteScript,
  namesScript,
  putScript,
  swapScript,
} from './scripts/record-scripts.ts'

/** Commands for many keys are sent in batches of this size, so that they leave room for others. */
const batch = 100

/** Records and sets in an engine. */
export class RedisStore implements RecordStore {
  readonly #engine: RedisEngine

  constructor(engine: RedisEngine) {
    this.#engine = engine
  }

  async get(key: string): Promise<StoredRecord | undefined> {
    const name = this.#engine.keys.record(key)
    return recordOf(await this.#engine.commands.send(name, ['GET', name]))
  }

  async getAll(keys: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    const records: (StoredRecord | undefined)[] = []
    for (let at = 0; at < keys.length; at += batch) {
      const names = keys.slice(at, at + batch).map(key => this.#engine.keys.record(key))
      const replies = await this.#engine.commands.getAll(names)
      records.push(...replies.map(recordOf))
    }
    return records
  }

  async claim(
    key: string,
    from: string | undefined,
    node: string,
    write?: RecordWrite,
  ): Promise<ClaimResult> {
    const { keys } = this.#engine
    const { value, ttlMs, flag } = written(write ?? { value: '', ttlMs: 0 })
    const args = [from ?? '', node, write === undefined ? '0' : '1', value, ttlMs, flag]
    const reply = await this.#engine.run(claimScript, [keys.record(key), keys.log(key)], args)
    const [outcome, first, second] = arrayReply(reply)
    switch (outcome) {
      case 'mine': {
        const epoch = numberReply(first)
        const previous = recordOf(second)
        return previous === undefined
          ? { isOwner: true, epoch }
          : { isOwner: true, epoch, previous }
      }
      case 'owned':
        return { isOwner: false, owner: { epoch: numberReply(first), node: textReply(second) } }
      case 'none':
        return { isOwner: false }
      default:
        throw refusal(key, arrayReply(reply))
    }
  }

  async put(key: string, write: OwnedWrite, owner: RecordOwner): Promise<void> {
    const { value, ttlMs, flag } = written(write)
    const mustExist = write.mustExist === true ? '1' : '0'
    const args = [owner.node, owner.epoch, value, ttlMs, flag, mustExist]
    const reply = await this.#engine.run(putScript, [this.#engine.keys.record(key)], args)
    expectDone(key, arrayReply(reply))
  }

  async swap(key: string, before: string | undefined, write: RecordWrite): Promise<SwapResult> {
    const { value, ttlMs, flag } = written(write)
    const args = [before === undefined ? '0' : '1', before ?? '', value, ttlMs, flag]
    const reply = await this.#engine.run(swapScript, [this.#engine.keys.record(key)], args)
    const [outcome, now] = arrayReply(reply)
    if (outcome === 'changed') return { isDone: false, now: textReply(now) }
    if (outcome === 'none') return { isDone: false }
    expectDone(key, arrayReply(reply))
    return { isDone: true, now: value }
  }

  async delete(key: string, owner?: RecordOwner): Promise<boolean> {
    const args = [owner?.node ?? '', owner?.epoch ?? 0, limits.tombstoneMs.default]
    const reply = arrayReply(
      await this.#engine.run(deleteScript, [this.#engine.keys.record(key)], args),
    )
    expectDone(key, reply)
    return reply[1] === 1
  }

  async touch(keys: readonly string[], ttlMs: number): Promise<void> {
    const { commands } = this.#engine
    for (let at = 0; at < keys.length; at += batch) {
      const names = keys.slice(at, at + batch).map(key => this.#engine.keys.record(key))
      await Promise.all(names.map(name => commands.send(name, ['PEXPIRE', name, `${ttlMs}`, 'GT'])))
    }
  }

  async add(set: string, name: string, ttlMs: number, max?: number): Promise<void> {
    const args = [name, ttlMs, max ?? '']
    const reply = arrayReply(await this.#engine.run(addScript, [this.#engine.keys.set(set)], args))
    if (reply[0] !== 'full') return
    throw new BackplaneError('full', `the set "${set}" has ${max} names already`)
  }

  async remove(set: string, name: string): Promise<void> {
    const key = this.#engine.keys.set(set)
    await this.#engine.commands.send(key, ['ZREM', key, name])
  }

  async *names(set: string): AsyncGenerator<readonly string[]> {
    const max = limits.clusterPage.default
    let last: readonly string[] = ['', '']
    for (;;) {
      const args = [...last, max]
      const reply = await this.#engine.run(namesScript, [this.#engine.keys.set(set)], args)
      const flat = arrayReply(reply).map(textReply)
      const names = flat.filter((_, at) => at % 2 === 0)
      if (names.length > 0) yield names
      if (names.length < max) return
      last = [flat.at(-1) ?? '', flat.at(-2) ?? '']
    }
  }
}

function written({ value, ttlMs, isFinal }: RecordWrite) {
  return { value, ttlMs, flag: isFinal === true ? 'f' : '-' }
}

function expectDone(key: string, reply: readonly unknown[]): void {
  if (reply[0] !== 'done') throw refusal(key, reply)
}

function refusal(key: string, [outcome, epoch, node]: readonly unknown[]): BackplaneError {
  if (outcome === 'final') return finalError(key)
  if (outcome === 'fenced') {
    const isOwned = epoch !== undefined
    return fencedError(
      key,
      isOwned ? { epoch: numberReply(epoch), node: textReply(node) } : undefined,
    )
  }
  return new BackplaneError('unknown', `the engine sent an unexpected reply: ${String(outcome)}`)
}

/** Parses a stored record; its form is described in `scripts/record-scripts.ts`. */
function recordOf(reply: unknown): StoredRecord | undefined {
  if (reply === null || reply === undefined) return undefined
  const text = textReply(reply)
  const [, epoch = '', node = '', flag = ''] = /^(\d+) (\S+) (\S) /.exec(text) ?? []
  if (epoch === '') {
    throw new BackplaneError(
      'unknown',
      'a stored record has a form that this version does not know',
    )
  }
  if (flag === 'd') return undefined
  const value = text.slice(epoch.length + node.length + flag.length + 3)
  const isFinal = flag === 'f'
  return node === '-'
    ? { value, isFinal }
    : { value, owner: { node, epoch: Number(epoch) }, isFinal }
}

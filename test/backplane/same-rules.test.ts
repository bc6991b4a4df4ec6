import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { natsProgram, natsServer } from '../../scripts/nats-server.js'
import { redisProgram, redisServer } from '../../scripts/redis-server.js'
import type { Backplane } from '../../src/backplane/backplane.ts'
import { BackplaneError } from '../../src/backplane/backplane-error.ts'
import { memory } from '../../src/backplane/memory/memory.ts'
import { nats } from '../../src/backplane/nats/nats.ts'
import { redis } from '../../src/backplane/redis/redis.ts'
import { sqlite } from '../../src/backplane/sqlite/sqlite.ts'
import { slowClock } from '../support/slow-clock.ts'

const ttlMs = 600_000

/** An operation on one key. Epochs differ between engines, so an operation names the claim that got one. */
type Operation =
  | {
      readonly kind: 'claim'
      readonly from?: string
      readonly node: string
      readonly value?: string
    }
  | {
      readonly kind: 'put'
      readonly claim: number
      readonly node: string
      readonly value: string
      readonly isFinal: boolean
      readonly mustExist: boolean
    }
  | { readonly kind: 'swap'; readonly before?: string; readonly value: string }
  | { readonly kind: 'delete'; readonly claim?: number; readonly node: string }
  | { readonly kind: 'append'; readonly claim: number; readonly n: number; readonly data: string }
  | { readonly kind: 'read'; readonly claim?: number; readonly n: number }

const node = fc.constantFrom('a', 'b', 'c')
const value = fc.constantFrom('', 'v', 'w\0')
const claim = fc.nat({ max: 3 })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      from: maybe(node),
      node,
      value: maybe(value),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      claim,
      node,
      value,
      isFinal: fc.boolean(),
      mustExist: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('swap' as const), before: maybe(value), value }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), claim: maybe(claim), node }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      claim,
      n: fc.integer({ min: 1, max: 3 }),
      data: value,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      claim: maybe(claim),
      n: fc.nat({ max: 3 }),
    }),
  },
)

/** Runs operations on a key, and returns their outcomes with the number of the claim in place of each epoch. */
async function outcomes(
  { store, log }: Backplane,
  key: string,
  operations: readonly Operation[],
): Promise<string[]> {
  const epochs: number[] = []
  // Epochs before the first claim are smaller than any of a claim.
  const epochOf = (number: number) => epochs[number] ?? number + 1
  const run = async (each: Operation): Promise<unknown> => {
    switch (each.kind) {
      case 'claim': {
        const write = each.value === undefined ? undefined : { value: each.value, ttlMs }
        const result = await store.claim(key, each.from, each.node, write)
        if (!result.isOwner) return result
        expect(result.epoch).toBeGreaterThan(Math.max(4, ...epochs))
        epochs.push(result.epoch)
        return result
      }
      case 'put': {
        const { value: text, isFinal, mustExist } = each
        const owner = { node: each.node, epoch: epochOf(each.claim) }
        await store.put(key, { value: text, ttlMs, isFinal, mustExist }, owner)
        return store.get(key)
      }
      case 'swap':
        return store.swap(key, each.before, { value: each.value, ttlMs })
      case 'delete':
        return each.claim === undefined
          ? store.delete(key)
          : store.delete(key, { node: each.node, epoch: epochOf(each.claim) })
      case 'append': {
        const entry = { epoch: epochOf(each.claim), n: each.n, fields: { data: each.data } }
        return log.append(key, [entry], { ttlMs, max: 1000 })
      }
      case 'read': {
        const position =
          each.claim === undefined ? undefined : { epoch: epochOf(each.claim), n: each.n }
        return log.readAfter(key, position, 100)
      }
    }
  }
  const results: string[] = []
  for (const each of operations) {
    const outcome = await run(each).catch(error => {
      if (!(error instanceof BackplaneError)) throw error
      return { code: error.code, owner: each.kind === 'append' ? undefined : error.owner }
    })
    results.push(
      JSON.stringify(outcome ?? null, (_, member: unknown) => {
        const number = typeof member === 'number' ? epochs.indexOf(member) : -1
        return number === -1 ? sorted(member) : `epoch ${number}`
      }),
    )
  }
  return results
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const folder = mkdtempSync(join(tmpdir(), 'trunkline-rules-'))
const engines: [name: string, backplane: Backplane][] = []
if (typeof process.getBuiltinModule?.('node:sqlite') === 'object') {
  engines.push(['SQLite', sqlite(join(folder, 'rules.db'))])
}
const server = redisProgram === undefined ? undefined : await redisServer()
if (server !== undefined) {
  const backplane = redis(`redis://127.0.0.1:${server.port}`, { clock: slowClock(10) })
  await backplane.open()
  engines.push(['Redis', backplane])
}
const natsEngine = natsProgram === undefined ? undefined : await natsServer('max_payload: 9MB')
if (natsEngine !== undefined) {
  const backplane = nats(`nats://127.0.0.1:${natsEngine.port}`, { clock: slowClock(10) })
  await backplane.open()
  engines.push(['NATS', backplane])
}
const model = memory()
afterAll(async () => {
  for (const [, backplane] of engines) await backplane.close()
  await model.close()
  await server?.close()
  await natsEngine?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('any operations have the same outcomes in memory and in', () => {
  test.each([['memory', memory()] as [string, Backplane], ...engines])(
    '%s',
    async (_, backplane) => {
      let key = 0
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 20 }), async operations => {
          const name = `rules-${++key}`
          const expected = await outcomes(model, `${name}-${process.hrtime.bigint()}`, operations)
          expect(await outcomes(backplane, name, operations)).toEqual(expected)
        }),
        { numRuns: 200 },
      )
    },
  )
})

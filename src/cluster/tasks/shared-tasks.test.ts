import { afterEach, describe, expect, test } from 'vitest'
import { BackplaneError } from '../../backplane/backplane-error.ts'
import { memory } from '../../backplane/memory/memory.ts'
import type { RecordStore } from '../../backplane/record-store.ts'
import type { TaskRecord } from '../../server/tasks/store.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { type SharedTaskOptions, sharedTasks } from './shared-tasks.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function record(id: string, more: Partial<TaskRecord> = {}): TaskRecord {
  const now = new Date().toISOString()
  return {
    id,
    tool: 'slow',
    design: 'core',
    status: 'working',
    createdAt: now,
    updatedAt: now,
    ttlMs: 60_000,
    principal: 'ada',
    ...more,
  }
}

/** Two nodes with one backplane, whose operations fail with `fault.error` while it is set. */
function nodes(options: SharedTaskOptions = {}) {
  const backplane = memory()
  open.push(backplane)
  const fault: { error: BackplaneError | undefined; isExecuted: boolean } = {
    error: undefined,
    isExecuted: false,
  }
  const store = new Proxy(backplane.store, {
    get(target, name: keyof RecordStore) {
      return async (...args: unknown[]) => {
        const run = () => Reflect.apply(target[name], target, args)
        if (fault.error === undefined) return run()
        if (fault.isExecuted) await run()
        throw fault.error
      }
    },
  })
  // `names` returns an iterable, not a promise of one.
  const shared = {
    ...backplane,
    store: { ...bound(store), names: backplane.store.names.bind(backplane.store) },
  }
  return { backplane, fault, a: sharedTasks(shared, options), b: sharedTasks(backplane, options) }
}

function bound(store: RecordStore): RecordStore {
  const { get, getAll, claim, put, swap, delete: remove, touch, add, remove: leave, names } = store
  return { get, getAll, claim, put, swap, delete: remove, touch, add, remove: leave, names }
}

const down = new BackplaneError('down', 'the engine is away')
const unknown = new BackplaneError('unknown', 'no answer in time')

describe('a shared task', () => {
  test('is found by every node as soon as it is added', async () => {
    const { a, b } = nodes()
    const one = record('1', { message: 'half \ud800 done', result: { content: [] } })
    await a.add(one)
    expect(await b.get('1')).toEqual(one)
    expect(await b.get('2')).toBeUndefined()
  })

  test('changes until it is final, whichever node writes', async () => {
    const { a, b } = nodes()
    await a.add(record('1'))
    expect(await a.put(record('1', { status: 'input_required' }))).toBe(true)
    expect(await b.put(record('1', { status: 'cancelled' }))).toBe(true)
    expect(await a.put(record('1', { status: 'completed' }))).toBe(false)
    expect((await a.get('1'))?.status).toBe('cancelled')
    expect(await b.put(record('2'))).toBe(false)
  })

  test('has one last status if all nodes end it at once', async () => {
    const { a, b } = nodes()
    await a.add(record('1'))
    const ends = Array.from({ length: 20 }, (_, at) =>
      (at % 2 === 0 ? a : b).put(record('1', { status: 'completed', message: `${at}` })),
    )
    expect((await Promise.all(ends)).filter(Boolean)).toHaveLength(1)
  })

  test('is listed for its owner alone, oldest first, on every node', async () => {
    const { a, b } = nodes()
    const now = Date.now()
    const at = (ms: number) => ({ createdAt: new Date(now + ms).toISOString() })
    await a.add(record('later', { ...at(2) }))
    await b.add(record('earlier', { ...at(1), ttlMs: 90_000 }))
    await b.add(record('session', { principal: undefined, session: 'ada' }))
    await b.add(record('address', { principal: undefined, address: 'ada' }))
    const ids = async (owner: object) => (await a.list(owner)).map(({ id }) => id)
    expect(await ids({ principal: 'ada' })).toEqual(['earlier', 'later'])
    expect(await ids({ session: 'ada' })).toEqual(['session'])
    expect(await ids({ principal: 'eve' })).toEqual([])
    expect(await ids({})).toEqual([])
  })

  test('cannot have the id of another', async () => {
    const { a, b } = nodes()
    await a.add(record('1'))
    await expect(b.add(record('1', { tool: 'other' }))).rejects.toThrow('with the id 1 already')
    expect((await a.get('1'))?.tool).toBe('slow')
  })

  test('ends with its time to live, and is not written again', async () => {
    const { a } = nodes()
    const past = record('1', { createdAt: new Date(Date.now() - 60_000).toISOString() })
    await a.add(past)
    await expect.poll(() => a.get('1')).toBeUndefined()
    expect(await a.put({ ...past, status: 'completed' })).toBe(false)
    expect(await a.get('1')).toBeUndefined()
  })
})

describe('limits of all nodes together', () => {
  const refusal = { name: 'RpcError', message: 'Maximum concurrent tasks exceeded' }

  test('hold for one caller', async () => {
    const { a, b } = nodes({ maxPerCaller: 2 })
    await a.add(record('1'))
    await b.add(record('2'))
    await expect(a.add(record('3'))).rejects.toMatchObject(refusal)
    expect(await a.get('3')).toBeUndefined()
    await a.add(record('4', { principal: 'eve' }))
    expect(await b.put(record('1', { status: 'failed' }))).toBe(true)
    await b.add(record('5'))
  })

  test('hold for all callers', async () => {
    const { a, b } = nodes({ max: 2 })
    await a.add(record('1'))
    await b.add(record('2', { principal: 'eve' }))
    const third = record('3', { principal: 'bob' })
    await expect(a.add(third)).rejects.toMatchObject(refusal)
    await a.put(record('1', { status: 'completed' }))
    await b.add(third)
  })

  test('let the final task go that expires first', async () => {
    const { a, b } = nodes({ maxPerCaller: 1, maxFinishedPerCaller: 2 })
    const createdAt = new Date().toISOString()
    for (const id of ['1', '2', '3', '4', '5']) {
      const one = record(id, { createdAt, ttlMs: 60_000 + Number(id) * 1000 })
      await a.add(one)
      await a.put({ ...one, status: 'completed' })
    }
    const kept = (await b.list({ principal: 'ada' })).map(({ id }) => id)
    expect(kept.sort()).toEqual(['3', '4', '5'])
    expect(await b.get('1')).toBeUndefined()
  })

  test('count no task of a process that has ended', async () => {
    const { a, b } = nodes({ maxPerCaller: 1 })
    await a.add(record('1', { leaseUntil: new Date(Date.now() + 20).toISOString() }))
    const added = async () => {
      await b.add(record('2'))
      return true
    }
    await expect.poll(() => added().catch(() => false)).toBe(true)
  })
})

describe('while the backplane fails', () => {
  test('no task is created or read, and the error says so', async () => {
    const { a, fault } = nodes()
    await a.add(record('1'))
    fault.error = down
    await expect(a.add(record('2'))).rejects.toBe(down)
    await expect(a.get('1')).rejects.toBe(down)
    await expect(a.list({ principal: 'ada' })).rejects.toBe(down)
  })

  test.each([
    ['were not executed', down, false],
    ['were executed, although nobody knows', unknown, true],
  ])(
    'a result is written again when it is back, if the writes %s',
    async (_, error, isExecuted) => {
      const clock = fakeClock()
      const { a, b, fault } = nodes({ clock })
      await a.add(record('1'))
      Object.assign(fault, { error, isExecuted })
      const written = a.put(record('1', { status: 'completed', result: { content: [] } }))
      await expect.poll(() => clock.pending).toBeGreaterThan(0)
      fault.error = undefined
      clock.advance(1000)
      expect(await written).toBe(true)
      expect(await b.get('1')).toMatchObject({ status: 'completed', result: { content: [] } })
    },
  )

  test('a result is given up after `sharedTaskRetryMs`', async () => {
    const clock = fakeClock()
    const { a, fault } = nodes({ clock })
    await a.add(record('1'))
    fault.error = down
    const finish = async () => a.put(record('1', { status: 'completed' }))
    const written = finish().catch((error: unknown) => error)
    await expect.poll(() => clock.pending).toBeGreaterThan(0)
    clock.advance(limits.sharedTaskRetryMs.default)
    expect(await written).toBe(down)
  })
})

test('a backplane that comes back empty gets running tasks again, and no others', async () => {
  const { backplane, a, b } = nodes()
  await a.add(record('1'))
  await backplane.store.delete('task 1')
  expect(await b.put(record('1', { status: 'cancelled' }))).toBe(false)
  expect(await a.put(record('1', { message: 'still working' }))).toBe(true)
  expect(await b.get('1')).toMatchObject({ message: 'still working' })
})

test('a result that is too large for a backplane becomes an error', async () => {
  const { a, b } = nodes()
  await a.add(record('1'))
  const text = 'x'.repeat(limits.sharedTaskBytes.default)
  expect(await a.put(record('1', { status: 'completed', result: { content: [], text } }))).toBe(
    true,
  )
  const stored = await b.get('1')
  expect(stored).toMatchObject({ status: 'failed', error: { message: 'Tool result too large' } })
  expect(stored?.result).toBeUndefined()
})

test('a record of another program is named as such', async () => {
  const { backplane, a } = nodes()
  await backplane.store.swap('task 1', undefined, { value: '[]', ttlMs: 1000 })
  await expect(a.get('1')).rejects.toThrow('another program has written its record')
})

test('invalid options are refused', () => {
  // @ts-expect-error: a number is required.
  expect(() => sharedTasks(memory(), { max: 'many' })).toThrow('option "max"')
})

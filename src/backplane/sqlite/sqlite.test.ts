import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { backplaneContract } from '../../testing/backplane/contract.ts'
import { expectCode } from '../../testing/backplane/expectations.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { loadSqlite } from './node-sqlite.ts'
import { sqlite } from './sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const fresh = () => join(folder, `${++files}.db`)
const ttlMs = 600_000

const hasSqlite = typeof process.getBuiltinModule?.('node:sqlite') === 'object'

if (!hasSqlite) {
  test('on a Node without node:sqlite it is refused with a clear error', () => {
    expect(() => sqlite(fresh())).toThrow(TypeError)
    expect(() => sqlite(fresh())).toThrow('the store "sqlite:" needs Node 22.13 or newer')
  })
} else {
  const path = fresh()
  const cases = await backplaneContract({
    connect: async cluster => sqlite(path, cluster === undefined ? {} : { cluster }),
  })

  describe('the contract of a backplane, in SQLite', () => {
    test.each(cases)('$name', ({ run }) => run())
  })

  test('what was acknowledged survives closing, also with durability "power"', async () => {
    const file = fresh()
    const owner = { node: 'a', epoch: 5 }
    for (const durability of ['power', 'process'] as const) {
      const first = sqlite(file, { durability })
      await first.store.put(durability, { value: 'v', ttlMs }, owner)
      await first.close()
      await using second = sqlite(file)
      expect(await second.store.get(durability)).toEqual({ value: 'v', owner, isFinal: false })
    }
  })

  test('a killed process loses nothing that it acknowledged', async () => {
    const file = fresh()
    // Node removes the types of the sources that it imports.
    const program = `
      const { sqlite } = await import(${JSON.stringify(new URL('sqlite.ts', import.meta.url))})
      const { store } = sqlite(${JSON.stringify(file)})
      for (let at = 0; ; at++) {
        await store.put(String(at), { value: 'v', ttlMs: 600000 }, { node: 'a', epoch: 1 })
        process.stdout.write(at + '\\n')
        if (at === 200) process.kill(process.pid, 'SIGKILL')
      }`
    const args = ['--no-warnings', '--input-type=module', '-e', program]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let acknowledged = ''
    child.stdout.on('data', text => {
      acknowledged += text
    })
    await once(child, 'close')
    const keys = acknowledged.split('\n').filter(key => key !== '')
    expect(keys.length).toBeGreaterThan(0)
    await using backplane = sqlite(file)
    const records = await backplane.store.getAll(keys)
    expect(records.every(record => record?.value === 'v')).toBe(true)
  })

  test('a process that keeps the file busy makes operations fail as down', async () => {
    const file = fresh()
    await using backplane = sqlite(file)
    const other = loadSqlite()(file)
    other.exec('BEGIN IMMEDIATE')
    await expectCode(backplane.store.swap('a', undefined, { value: 'v', ttlMs }), 'down')
    other.exec('ROLLBACK')
    other.close()
    await backplane.store.swap('a', undefined, { value: 'v', ttlMs })
  })

  test('an operation that is refused does not harm others of the same turn', async () => {
    await using backplane = sqlite(fresh())
    const { store } = backplane
    await store.put('a', { value: 'v', ttlMs }, { node: 'a', epoch: 9 })
    const [one, two, three] = await Promise.allSettled([
      store.put('b', { value: 'v', ttlMs }, { node: 'a', epoch: 9 }),
      store.put('a', { value: 'w', ttlMs }, { node: 'a', epoch: 8 }),
      store.swap('c', undefined, { value: 'v', ttlMs }),
    ])
    expect([one.status, two.status, three.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await store.get('b'))?.value).toBe('v')
  })

  test('a process that did not look for messages for too long reports a gap', async () => {
    const file = fresh()
    const clock = fakeClock()
    await using receiver = sqlite(file, { clock })
    await using sender = sqlite(file)
    const received: string[] = []
    const record = (what: string) => void received.push(what)
    await receiver.bus.subscribe('c', { message: record, gap: () => record('gap') })
    sender.bus.publish('c', '1')
    await sender.store.get('a')
    const other = loadSqlite()(file)
    other.exec('DELETE FROM messages')
    other.close()
    sender.bus.publish('c', '2')
    await sender.store.get('a')
    clock.advance(100)
    await expect.poll(() => received).toEqual(['gap', '2'])
  })

  test('looking for messages ends with the last subscription', async () => {
    const clock = fakeClock()
    await using backplane = sqlite(fresh(), { clock })
    const end = await backplane.bus.subscribe('c', { message: () => {}, gap: () => {} })
    expect(clock.pending).toBe(1)
    end()
    expect(clock.pending).toBe(0)
  })

  test('a file of a newer version, and one that is no database, are refused', async () => {
    const newer = fresh()
    const database = loadSqlite()(newer)
    database.exec('PRAGMA user_version = 99')
    database.close()
    expect(() => sqlite(newer)).toThrow('written by a newer version of Trunkline')
    expect(() => sqlite(folder)).toThrow('cannot be used')
  })

  test('a database in memory is refused, because no process could share it', () => {
    expect(() => sqlite(':memory:')).toThrow('for memory, use memory()')
  })

  test.each([
    [{ durability: 'disk' }, 'option "durability" must be one of "process", "power"'],
    [{ cluster: 'a/b' }, 'option "cluster" must be 1 to 64 letters'],
  ])('the options %j are refused', (options, message) => {
    // @ts-expect-error: wrong on purpose
    expect(() => sqlite(fresh(), options)).toThrow(message)
  })
}

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { expectCode } from '../../testing/backplane/expectations.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { DiskRoom } from './disk-room.ts'
import { reserveFile } from './node-reserve.ts'
import { loadSqlite } from './node-sqlite.ts'
import { Transactions } from './transactions.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-room-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a reserve', () => {
  test('takes its space once, gives it back, and takes it again', () => {
    const path = join(folder, 'reserve')
    const reserve = reserveFile(path, 3_000_000)
    expect(reserve.restore()).toBe(true)
    expect(statSync(path).size).toBe(3_000_000)
    const { ino } = statSync(path)
    expect(reserve.restore()).toBe(true)
    expect(statSync(path).ino).toBe(ino)
    reserve.release()
    reserve.release()
    expect(existsSync(path)).toBe(false)
    expect(reserve.restore()).toBe(true)
    writeFileSync(path, 'too short')
    expect(reserve.restore()).toBe(true)
    expect(statSync(path).size).toBe(3_000_000)
  })

  test('that cannot be written is not held, and leaves nothing behind', () => {
    const before = readdirSync(folder)
    expect(reserveFile(join(folder, 'missing', 'reserve'), 1000).restore()).toBe(false)
    expect(readdirSync(folder)).toEqual(before)
  })
})

const hasSqlite = typeof process.getBuiltinModule?.('node:sqlite') === 'object'

/** A disk of a few pages, of which the reserve takes some: the limit of a database stands for it. */
function smallDisk() {
  const database = loadSqlite()(join(folder, 'small.db'))
  database.exec('DROP TABLE IF EXISTS texts; CREATE TABLE texts (id INTEGER PRIMARY KEY, text)')
  const pages = () => Number(database.prepare('PRAGMA page_count').get()?.page_count)
  const disk = { free: 40, reserved: 0 }
  const used = pages()
  const resize = () => {
    const limit = used + disk.free - disk.reserved
    // A limit below the size has no effect.
    database.exec(`PRAGMA max_page_count = ${Math.max(limit, pages())}`)
  }
  const reserve = {
    release: () => {
      disk.reserved = 0
      resize()
    },
    restore: () => {
      if (disk.reserved === 0 && used + disk.free - pages() >= 30) disk.reserved = 20
      resize()
      return disk.reserved > 0
    },
  }
  const clock = fakeClock()
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => void warnings.push(message)
  const room = new DiskRoom({ name: 'sqlite:small', reserve, clock, onWarning })
  const transactions = new Transactions(database, 'sqlite:small', room)
  const insert = database.prepare('INSERT INTO texts (text) VALUES (?)')
  const count = database.prepare('SELECT count(*) AS count FROM texts')
  return {
    disk,
    clock,
    warnings,
    store: () => transactions.runGrowing(() => void insert.run('x'.repeat(10_000))),
    read: () => transactions.run(() => Number(count.get()?.count)),
    remove: () => transactions.run(() => database.exec('DELETE FROM texts WHERE id = 1')),
    check: () => database.prepare('PRAGMA integrity_check').get()?.integrity_check,
    close: () => database.close(),
  }
}

describe.runIf(hasSqlite)('on a full disk', () => {
  test('nothing more is stored, the rest goes on, and storing resumes when there is room', async () => {
    const { disk, clock, warnings, store, read, remove, check, close } = smallDisk()
    let stored = 0
    const error = await expectCode(
      (async () => {
        for (; ; stored++) await store()
      })(),
      'full',
    )
    expect(error.message).toBe('the disk of sqlite:small is full; nothing was written')
    expect(stored).toBeGreaterThan(0)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('it stores nothing more until')

    expect(await read()).toBe(stored)
    await remove()
    expect(await read()).toBe(stored - 1)
    await expectCode(store(), 'full')
    clock.advance(1000)
    await expectCode(store(), 'full')

    disk.free += 40
    await expectCode(store(), 'full')
    clock.advance(1000)
    await store()
    expect(await read()).toBe(stored)
    expect(warnings).toHaveLength(1)
    expect(check()).toBe('ok')
    close()
  })

  test('what stores nothing succeeds in the same turn as a write that does not', async () => {
    const { store, read, close } = smallDisk()
    const writes = Array.from({ length: 100 }, store)
    const [written, count] = await Promise.allSettled([Promise.all(writes), read()])
    await Promise.allSettled(writes)
    expect(written.status).toBe('rejected')
    expect(count).toEqual({ status: 'fulfilled', value: 0 })
    close()
  })
})

import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { openAuditLog } from './audit-log.ts'
import type { AuditRecord } from './record.ts'
import { verifyAuditLog } from './verify.ts'

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'audit.jsonl')
}

const call = (name: string): AuditRecord => {
  return { event: 'call', outcome: 'allowed', method: 'tools/call', name, server: 's' }
}
const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n')
const namesIn = (path: string) => linesOf(path).map(line => JSON.parse(line).name)

async function written(path: string, ...names: readonly string[]): Promise<readonly string[]> {
  const errors: string[] = []
  const log = await openAuditLog(path, { onError: error => errors.push(error.message) })
  for (const name of names) void log.record(call(name))
  await log.close()
  return errors
}

test('writes a chain of lines that only the owner can read, and continues it', async () => {
  const path = place()
  await written(path, 'a', 'b')
  await written(path, 'c')
  expect(namesIn(path)).toEqual(['a', 'b', 'c'])
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  const { lines, isTorn, broken } = await verifyAuditLog(path)
  expect({ lines, isTorn, broken }).toEqual({ lines: 3, isTorn: false, broken: undefined })
})

test.each<[string, (lines: string[]) => void, number]>([
  ['changed', lines => void lines.splice(1, 1, (lines[1] ?? '').replace('"b"', '"x"')), 3],
  ['removed', lines => void lines.splice(1, 1), 2],
  ['added', lines => void lines.splice(1, 0, lines[1] ?? ''), 3],
  ['swapped', lines => void lines.splice(0, 2, lines[1] ?? '', lines[0] ?? ''), 1],
  ['replaced by something else', lines => void lines.splice(2, 1, '{}'), 3],
])('notices a line that was %s', async (_, change, line) => {
  const path = place()
  await written(path, 'a', 'b', 'c', 'd')
  const lines = linesOf(path)
  change(lines)
  writeFileSync(path, `${lines.join('\n')}\n`)
  expect((await verifyAuditLog(path)).broken?.line).toBe(line)
})

test('removes a line that was not written completely, reports it, and keeps the chain', async () => {
  const path = place()
  await written(path, 'a')
  appendFileSync(path, '{"sequence":2,"na')
  expect(await verifyAuditLog(path)).toMatchObject({ lines: 1, isTorn: true })
  const errors = await written(path, 'b')
  expect(errors.join()).toContain('not written completely')
  expect(await verifyAuditLog(path)).toMatchObject({ lines: 3, isTorn: false })
  expect(JSON.parse(linesOf(path)[1] ?? '')).toMatchObject({ event: 'recovered', tornBytes: 17 })
})

test('does not continue a file that is no audit log', async () => {
  const path = place()
  writeFileSync(path, 'notes\n')
  await expect(openAuditLog(path)).rejects.toThrow('cannot be continued')
  expect(readFileSync(path, 'utf8')).toBe('notes\n')
  const wrong = { onFull: 'wait' } as unknown as { onFull: 'drop' }
  await expect(openAuditLog(path, wrong)).rejects.toThrow('"onFull" must be')
})

test('two logs of one file make one chain', async () => {
  const path = place()
  const logs = [await openAuditLog(path), await openAuditLog(path)]
  for (let at = 0; at < 20; at++) {
    for (const log of logs) void log.record(call(`${at}`))
    await new Promise(resolve => setImmediate(resolve))
  }
  await Promise.all(logs.map(log => log.close()))
  const { lines, broken } = await verifyAuditLog(path)
  expect({ lines, broken }).toEqual({ lines: 40, broken: undefined })
})

test('lets calls wait while the queue is full', async () => {
  const path = place()
  const log = await openAuditLog(path, { queue: 2 })
  const waits = ['a', 'b', 'c', 'd'].map(name => log.record(call(name)))
  expect(waits.map(wait => wait instanceof Promise)).toEqual([false, false, true, true])
  await Promise.all(waits)
  await log.close()
  expect(namesIn(path)).toEqual(['a', 'b', 'c', 'd'])
})

test('counts what it drops, and says so in the log', async () => {
  const path = place()
  const log = await openAuditLog(path, { queue: 1, onFull: 'drop' })
  for (const name of ['a', 'b', 'c']) expect(log.record(call(name))).toBeUndefined()
  expect(log.dropped).toBe(2)
  await expect.poll(() => readFileSync(path, 'utf8')).toContain('"a"')
  void log.record(call('d'))
  await log.close()
  const records = linesOf(path).map(line => JSON.parse(line))
  expect(records.map(({ name, count }) => name ?? count)).toEqual(['a', 2, 'd'])
  expect((await verifyAuditLog(path)).broken).toBeUndefined()
})

test('cuts long texts', async () => {
  const path = place()
  await written(path, 'x'.repeat(limits.auditTextLength.default + 1))
  expect(namesIn(path)).toEqual([`${'x'.repeat(limits.auditTextLength.default)}…`])
})

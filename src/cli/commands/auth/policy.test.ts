import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ran } from '../../../../test/support/ran.ts'
import { openAuditLog } from '../../../observe/audit/audit-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-policy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const save = (name: string, value: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}

const policy = {
  default: 'deny',
  rules: [
    { name: 'reading', allow: ['notes__list'] },
    { name: 'writing', who: { scopes: ['write'] }, allow: ['notes__*'] },
    { name: 'staff', who: { roles: ['ops'], claims: { tenant: ['acme'] } }, allow: ['ops__*'] },
    { name: 'own', allow: ['orders__get'], when: { argument: 'r', is: { claim: 'tenant' } } },
    { name: 'typo', allow: ['noets__list'] },
    { name: 'gone', server: 'none', deny: ['*'] },
  ],
}
const file = save('policy.jsonc', `// by name\n${JSON.stringify(policy)}`)
const claims = save('claims.json', { sub: 'ada', scope: 'read', roles: ['ops'], tenant: 'acme' })

describe('trunkline policy test', () => {
  test('prints the rule and the outcome for each name', async () => {
    const { code, stdout } = await ran(['policy', 'test', file, '--as', claims])
    expect(code).toBe(0)
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'notes__list: allowed by rule "reading"',
      'notes__*: challenged by rule "writing", needs write',
      'ops__*: allowed by rule "staff"',
      'orders__get: allowed by rule "own", depending on the arguments',
    ])
    const one = await ran(['policy', 'test', file, 'ops__x', '--json'])
    expect(JSON.parse(one.stdout).decisions).toMatchObject([{ name: 'ops__x', outcome: 'hidden' }])
  })

  test('refuses files that it cannot use', async () => {
    const wrong = save('wrong.json', { rules: [{ name: 'r' }] })
    expect((await ran(['policy', 'test', wrong])).stderr).toContain('one of allow and deny')
    expect((await ran(['policy', 'test', file, '--as', wrong.replace('wrong', 'no')])).code).toBe(2)
    expect((await ran(['policy', 'show'])).code).toBe(2)
  })

  test('up --dry-run names patterns that match nothing, and --policy needs auth', async () => {
    const servers = {
      notes: { command: 'node' },
      ops: { command: 'node' },
      orders: { command: 'node' },
    }
    const keys = join(folder, 'keys.json')
    await ran(['keys', 'new', 'ada', '--file', keys])
    const config = save('up.json', { mcpServers: servers, auth: { apiKeys: keys } })
    const { stdout, code } = await ran(['up', config, '--policy', file, '--dry-run', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).unmatched).toMatchObject([
      { rule: 'typo', pattern: 'noets__list' },
      { rule: 'gone', pattern: 'none' },
    ])
    const open = save('open.json', { mcpServers: servers })
    const refused = await ran(['up', open, '--policy', file, '--dry-run'])
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--policy needs "auth"'),
    })
  })
})

describe('trunkline audit verify', () => {
  test('names the first line that was changed, and fails', async () => {
    const path = join(folder, 'audit.jsonl')
    const log = await openAuditLog(path)
    for (const name of ['a', 'b', 'c']) {
      void log.record({
        event: 'call',
        outcome: 'allowed',
        method: 'tools/call',
        name,
        server: 's',
      })
    }
    await log.close()
    const good = await ran(['audit', 'verify', path])
    expect(good).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('3 lines, none changed'),
    })
    appendFileSync(path, '{"seq')
    expect((await ran(['audit', 'verify', path])).stderr).toContain('not complete')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"b"', '"x"'))
    const bad = await ran(['audit', 'verify', path])
    expect(bad).toMatchObject({ code: 5, stdout: expect.stringContaining('audit.jsonl:3: ') })
    expect((await ran(['audit', 'verify', join(folder, 'none')])).code).toBe(2)
    expect((await ran(['audit'])).code).toBe(2)
  })
})

import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ran } from '../../../../test/support/ran.ts'
import { bearer } from '../../../auth/client/machine/bearer.ts'
import { connect } from '../../../connect.ts'
import { Server } from '../../../server/server.ts'
import { closeAll, listenAll } from '../../up/listeners.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-keys-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const newFile = () => join(folder, `${++files}.json`)
const keys = (file: string, ...args: string[]) => ran(['keys', ...args, '--file', file])

describe('trunkline keys', () => {
  test('makes, lists and revokes keys, of which the file has only digests', async () => {
    const file = newFile()
    const made = await keys(
      file,
      'new',
      'ada',
      '--scope',
      'mcp',
      '--role',
      'admin',
      '--expires',
      '90d',
    )
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^tlk_\w{8}_[\w-]{43}\n$/),
    })
    const secret = made.stdout.trim().slice(13)
    expect(readFileSync(file, 'utf8')).not.toContain(secret)
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    await keys(file, 'new', 'bob')
    const listed = await keys(file, 'list', '--json')
    expect(JSON.parse(listed.stdout).keys).toMatchObject([
      { name: 'ada', scopes: ['mcp'], roles: ['admin'] },
      { name: 'bob' },
    ])
    expect(listed.stdout).not.toContain('sha256')
    expect((await keys(file, 'list')).stdout).toMatch(
      /^ada \(id .*, scopes mcp, roles admin, valid until/,
    )
    expect((await keys(file, 'revoke', 'ada')).stdout).toBe('revoked: ada\n')
    expect((await keys(file, 'list')).stdout).toMatch(/^bob \(id \w{8}, no expiry\)\n$/)
  })

  test('records new and revoked keys in an audit log, without the key', async () => {
    const [file, log] = [newFile(), newFile()]
    const made = await keys(file, 'new', 'ada', '--scope', 'mcp', '--audit', log, '--json')
    const { key, id } = JSON.parse(made.stdout)
    await keys(file, 'revoke', 'ada', '--audit', log)
    const text = readFileSync(log, 'utf8')
    const of = { event: 'key', key: id, principal: 'key:ada', scope: 'mcp' }
    expect(text.split('\n', 2).map(line => JSON.parse(line))).toMatchObject([
      { ...of, outcome: 'created' },
      { ...of, outcome: 'revoked' },
    ])
    expect(text).not.toContain(key.slice(13))
    expect((await ran(['audit', 'verify', log])).code).toBe(0)
  })

  test('changes nothing if the audit log cannot be written', async () => {
    const file = newFile()
    const refused = await keys(file, 'new', 'ada', '--audit', join(folder, 'none', 'audit.jsonl'))
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('audit.jsonl') })
    expect(existsSync(file)).toBe(false)
  })

  test('loses no key if several are made at the same time', async () => {
    const file = newFile()
    const names = Array.from({ length: 8 }, (_, at) => `user${at}`)
    await Promise.all(names.map(name => keys(file, 'new', name)))
    const { stdout } = await keys(file, 'list', '--json')
    expect(
      JSON.parse(stdout)
        .keys.map(({ name }: { name: string }) => name)
        .sort(),
    ).toEqual(names)
  })

  test.each([
    ['no file', ['keys', 'list'], '--file is missing'],
    ['no action', ['keys', '--file', 'x'], 'use new, list, revoke'],
    ['an unknown action', ['keys', 'revok', 'a', '--file', 'x'], 'did you mean "revoke"?'],
    ['no name', ['keys', 'new', '--file', 'x'], 'the name of the key is missing'],
    ['a bad name', ['keys', 'new', 'a b', '--file', join(folder, 'x')], 'its name must have'],
    ['a bad time', ['keys', 'new', 'a', '--expires', 'soon', '--file', 'x'], 'such as 90d or 12h'],
    ['a file that is missing', ['keys', 'list', '--file', join(folder, 'none')], 'ENOENT'],
  ])('refuses %s', async (_, args, message) => {
    const { code, stderr } = await ran(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  test('changes nothing in a file with a mistake', async () => {
    const file = newFile()
    writeFileSync(file, '{ "keys": [{}] }')
    chmodSync(file, 0o600)
    expect(await keys(file, 'new', 'ada')).toMatchObject({ code: 2 })
    expect(readFileSync(file, 'utf8')).toBe('{ "keys": [{}] }')
    const other = newFile()
    await keys(other, 'new', 'ada')
    const again = await keys(other, 'new', 'ada')
    expect(again.stderr).toContain('has a key "ada" already')
  })
})

test('a listener with auth accepts only callers with a key', async () => {
  const file = newFile()
  const key = (await keys(file, 'new', 'ada')).stdout.trim()
  const server = new Server({ name: 'guarded', version: '1.0.0' })
  server.tool('whoami', {}, (_, ctx) => ctx.caller.principal?.id ?? 'nobody')
  const address = 'http://127.0.0.1:0/mcp'
  const auth = { apiKeys: { file }, resource: 'https://tools.example/mcp' }
  const how = { ops: undefined, isAnyPort: false, auth, onError: () => {} }
  const listeners = await listenAll(server, [address], how)
  try {
    const bound = listeners.get(address)?.address ?? ''
    await expect(connect(bound, { reconnect: false })).rejects.toThrow('401')
    await using client = await connect(bound, { auth: bearer(key) })
    expect((await client.call('whoami')).text).toBe('key:ada')
    const behindProxy = await ran([
      'list',
      bound,
      '--header',
      'Host: tools.example',
      '--header',
      `Authorization: Bearer ${key}`,
    ])
    expect(behindProxy.stdout).toContain('whoami')
  } finally {
    await closeAll(listeners)
  }
})

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../../util/limits/limits.ts'
import { fileStore } from './file-store.ts'
import { memoryStore } from './memory-store.ts'
import { tokenFolder } from './node-token-folder.ts'
import { readLogin, readRegistration, readTokens, recordKeys, writeTokens } from './records.ts'

let home: string
let folder: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'trunkline-store-'))
  folder = join(home, 'state', 'tokens')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const stores = { memory: () => memoryStore(), files: () => fileStore(folder) }

describe.each(Object.entries(stores))('a store in %s', (_, open) => {
  test('keeps, replaces and removes values', async () => {
    const store = open()
    expect(await store.get('a')).toBeUndefined()
    expect(await store.keys?.()).toEqual([])
    await store.set('a', '1')
    await store.set('a', '2')
    await store.set('../b', '3')
    expect([await store.get('a'), await store.get('../b')]).toEqual(['2', '3'])
    expect([...((await store.keys?.()) ?? [])].sort()).toEqual(['../b', 'a'])
    await store.remove('a')
    await store.remove('a')
    expect(await store.get('a')).toBeUndefined()
  })

  test('removes a value only if nobody has replaced it', async () => {
    const store = open()
    await store.set('a', 'new')
    await store.remove('a', 'old')
    expect(await store.get('a')).toBe('new')
    await store.remove('a', 'new')
    expect(await store.get('a')).toBeUndefined()
  })

  test('runs work for one key one after the other, also after a failure', async () => {
    const store = open()
    let running = 0
    const work = async (fails: boolean) => {
      running++
      const isAlone = running === 1
      await new Promise(setImmediate)
      running--
      if (fails) throw new Error('failed')
      return isAlone
    }
    const turns = Array.from({ length: 5 }, (_, at) => store.exclusive('a', () => work(at === 1)))
    const outcomes = await Promise.allSettled(turns)
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
    const isAlone = outcomes.map(outcome => outcome.status === 'rejected' || outcome.value)
    expect(isAlone).toEqual([true, true, true, true, true])
  })

  test('runs work for different keys at the same time', async () => {
    const store = open()
    const inner = () => store.exclusive('b', async () => 'done')
    expect(await store.exclusive('a', inner)).toBe('done')
  })
})

test('a store in memory drops the oldest of too many entries', async () => {
  const store = memoryStore()
  for (let at = 0; at <= limits.storedEntries.default; at++) await store.set(`${at}`, 'x')
  expect([await store.get('0'), await store.get('1')]).toEqual([undefined, 'x'])
})

const isWindows = process.platform === 'win32'

describe.skipIf(isWindows)('a store in files', () => {
  const fileOf = async () => join(folder, (await readdir(folder))[0] ?? '')

  test('is readable by the user alone, whatever the umask is', async () => {
    const before = process.umask(0)
    try {
      await fileStore(folder).set('a', 'secret')
    } finally {
      process.umask(before)
    }
    const modes = await Promise.all([stat(folder), stat(await fileOf())])
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600])
  })

  test.each([
    ['a file that others can read', async () => chmod(await fileOf(), 0o644), 'chmod 600'],
    ['a folder that others can enter', async () => chmod(folder, 0o755), 'chmod 700'],
    [
      'a file that is a link',
      async () => {
        const file = await fileOf()
        await rename(file, join(home, 'elsewhere'))
        await symlink(join(home, 'elsewhere'), file)
      },
      'it is a link',
    ],
    [
      'a folder that is a link',
      async () => {
        await rename(folder, join(home, 'elsewhere'))
        await symlink(join(home, 'elsewhere'), folder)
      },
      'it is a link',
    ],
    [
      'a file that is a folder',
      async () => {
        const file = await fileOf()
        rmSync(file)
        await mkdir(file, { mode: 0o700 })
      },
      'not a file',
    ],
  ])('refuses %s', async (_, change, words) => {
    const store = fileStore(folder)
    await store.set('a', 'secret')
    await change()
    await expect(store.get('a')).rejects.toMatchObject({
      code: 'insecure',
      message: expect.stringContaining(words),
    })
  })

  test.each(['', '{', '[]', '{"key":"a"}', '{"key":"b","value":"x"}'])(
    'treats a file with %j as absent',
    async text => {
      const store = fileStore(folder)
      await store.set('a', 'x')
      await writeFile(await fileOf(), text)
      expect(await store.get('a')).toBeUndefined()
      await store.set('a', 'y')
      expect(await store.get('a')).toBe('y')
    },
  )

  test('leaves nothing but the values behind', async () => {
    const store = fileStore(folder)
    await store.set('a', 'x')
    await store.exclusive('a', () => store.set('a', 'y'))
    expect(await readdir(folder)).toHaveLength(1)
    expect(await readFile(await fileOf(), 'utf8')).toContain('y')
  })

  test('takes over the lock of a process that has ended', async () => {
    const store = fileStore(folder, { lockMs: 1000 })
    await store.exclusive('a', async () => {
      const [lock = ''] = await readdir(folder)
      const path = join(folder, lock)
      expect(existsSync(path)).toBe(true)
      const long = new Date(Date.now() - 100_000)
      await utimes(path, long, long)
      expect(await fileStore(folder, { lockMs: 1000 }).exclusive('a', async () => 'taken')).toBe(
        'taken',
      )
    })
    expect(await readdir(folder)).toEqual([])
  })
})

test.each([
  ['linux', { XDG_STATE_HOME: '/s' }, join('/s', 'trunkline', 'tokens')],
  ['darwin', { XDG_STATE_HOME: '/s' }, join('/s', 'trunkline', 'tokens')],
  ['win32', { LOCALAPPDATA: '/l' }, join('/l', 'trunkline', 'tokens')],
])('on %s the folder is the one for the state of programs', (platform, env, expected) => {
  expect(tokenFolder(env, platform)).toBe(expected)
})

describe('a record', () => {
  const login = { issuer: 'https://as.example', resource: 'https://a.example/mcp', clientId: 'c' }
  const tokens = {
    accessToken: 'a',
    tokenType: 'Bearer',
    issuedAt: 1,
    grant: 'g',
    scopes: [],
  } as const

  test('is found again', async () => {
    const store = memoryStore()
    const text = await writeTokens(store, { ...login, ...tokens })
    expect(await readTokens(store, login)).toMatchObject({ record: { ...login, ...tokens }, text })
  })

  test.each([
    ['no JSON', 'x'],
    ['another format', { v: 2, ...login, ...tokens }],
    ['another issuer', { v: 1, ...login, ...tokens, issuer: 'https://evil.example' }],
    ['no token', { v: 1, ...login, ...tokens, accessToken: 3 }],
    ['another type of token', { v: 1, ...login, ...tokens, tokenType: 'MAC' }],
    ['no grant', { v: 1, ...login, ...tokens, grant: undefined }],
  ])('with %s counts as absent', async (_, record) => {
    const store = memoryStore()
    const text = typeof record === 'string' ? record : JSON.stringify(record)
    await store.set(recordKeys.tokens(login), text)
    expect(await readTokens(store, login)).toBeUndefined()
  })

  test('of a registration or a login that is damaged counts as absent', async () => {
    const store = memoryStore()
    await store.set(recordKeys.registration('https://as.example'), '{"v":1,"issuer":"https://x"}')
    await store.set(recordKeys.login('https://a.example/'), '{"v":1,"issuer":3}')
    expect(await readRegistration(store, 'https://as.example')).toBeUndefined()
    expect(await readLogin(store, 'https://a.example/')).toBeUndefined()
  })
})

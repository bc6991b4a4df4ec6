import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { protectedServer } from '../../../../test/support/protected-server.ts'
import { ran } from '../../../../test/support/ran.ts'
import { run } from '../../run.ts'

const state = mkdtempSync(join(tmpdir(), 'trunkline-login-'))
let as: Awaited<ReturnType<typeof protectedServer>>
beforeEach(async () => {
  vi.stubEnv('XDG_STATE_HOME', state)
  as = await protectedServer()
})
afterEach(async () => {
  await ran(['logout', '--all'])
  await as.close()
  vi.unstubAllEnvs()
})
afterAll(() => rmSync(state, { recursive: true, force: true }))

/** Runs `trunkline login`, and calls `visit` with the page that it prints. */
async function logIn(
  args: readonly string[],
  visit: (page: URL, stdin: PassThrough) => Promise<unknown>,
  { env = {}, isTTY = false }: { readonly env?: Record<string, string>; isTTY?: boolean } = {},
) {
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const out: string[] = []
  const err: string[] = []
  let visited: Promise<unknown> | undefined
  const code = await run(['login', as.url.href, '--no-browser', ...args], {
    stdout: { write: text => out.push(text) },
    stderr: {
      write: text => {
        err.push(text)
        const [page] = /http\S+\/authorize\S+/.exec(text) ?? []
        if (page !== undefined) visited ??= visit(new URL(page), stdin)
      },
    },
    // The check: a login reads lines, and looks at isTTY.
    stdin: stdin as unknown as NodeJS.ReadStream,
    env,
  })
  await visited
  return { code, stdout: out.join(''), stderr: err.join('') }
}

/** Does what a browser does: follows the redirect to this machine. */
const browse = async (page: URL) => void (await (await fetch(await as.open(page))).text())

describe('trunkline login', () => {
  test('waits for the browser, and the other commands use the tokens', async () => {
    const { code, stdout } = await logIn(['--scope', 'notes'], browse)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^logged in: http:.*\/mcp \(at http:.*, scopes notes.*, valid until /)
    expect(stdout).toContain('renewed automatically')
    expect(stdout).not.toContain('access-1')
    const called = await ran(['call', as.url.href, 'whoami'])
    expect([called.code, called.stdout]).toEqual([0, 'Bearer access-1\n'])
    expect((await ran(['list', as.url.href])).stdout).toContain('whoami')
    const checked = await ran([
      'check',
      as.url.href,
      '--call',
      'whoami',
      '--json',
      '--timeout',
      '60s',
    ])
    expect(JSON.parse(checked.stdout).steps.at(-1)).toMatchObject({ step: 'call', status: 'ok' })
  })

  test('accepts the address that the user pastes', async () => {
    const paste = async (page: URL, stdin: PassThrough) => {
      stdin.write('http://127.0.0.1/callback?state=other\n')
      stdin.write(`${(await as.open(page)).href}\n`)
    }
    const { code, stderr } = await logIn(['--json'], paste, { isTTY: true })
    expect(code).toBe(0)
    expect(stderr).toContain('does not belong to this login')
  })

  test('keeps the secret of a client that is registered by hand, to renew its tokens', async () => {
    const args = ['--client-id', 'ours', '--client-secret-env', 'SECRET', '--json']
    const { code, stdout } = await logIn(args, browse, { env: { SECRET: 'hush-hush' } })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ clientId: 'ours', isRenewable: true })
    as.expire()
    expect((await ran(['call', as.url.href, 'whoami'])).stdout).toBe('Bearer access-2\n')
    const [first, renewal] = as.at('/token').map(({ headers }) => headers.authorization)
    expect(renewal).toBe(first)
    expect(as.at('/register')).toEqual([])
  })

  test.each([
    ['a program', ['login', '--', 'node', 'x.js'], 'a login is for an http: or https: address'],
    ['a socket', ['login', 'tcp://127.0.0.1:1'], 'a login is for an http: or https: address'],
    ['no server', ['login'], 'missing server'],
    ['a secret without an id', ['login', 'http://x', '--client-secret-env', 'A'], '--client-id'],
    [
      'a variable that is not set',
      ['login', 'http://x', '--client-id', 'a', '--client-secret-env', 'NOT_SET'],
      'NOT_SET is not set',
    ],
    ['an issuer that is no URL', ['login', 'http://x', '--issuer', 'y'], 'must be a URL'],
    ['a server and all', ['logout', 'http://x', '--all'], 'one server, or --all'],
    ['tokens for a program', ['list', '--auth', 'stored', '--', 'x'], '--auth applies to HTTP'],
    [
      'tokens twice',
      ['list', 'http://x', '--auth', 'stored', '--header', 'authorization: a'],
      'both given; use one',
    ],
  ])('refuses %s', async (_, args, message) => {
    const { code, stderr } = await ran(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  test('reports a refusal with an exit code of its own', async () => {
    const deny = async (page: URL) => {
      const back = await as.open(page)
      back.searchParams.set('error', 'access_denied')
      await (await fetch(back)).text()
    }
    expect(await logIn([], deny)).toMatchObject({ code: 6, stdout: '' })
    expect(JSON.parse((await ran(['grants', '--json'])).stdout)).toEqual({ logins: [] })
  })
})

describe('without a login', () => {
  test('a command says how to log in', async () => {
    const { code, stderr } = await ran(['list', as.url.href])
    expect(code).toBe(6)
    expect(stderr).toContain(`run "trunkline login ${as.url.href}"`)
    expect(as.seen.map(({ path }) => path)).toEqual(as.seen.map(() => '/mcp'))
  })

  test('--auth stored finds the authorization server, and says how to log in', async () => {
    const { code, stderr } = await ran(['list', as.url.href, '--auth', 'stored'])
    expect(code).toBe(6)
    expect(stderr).toContain(`requires a login at ${as.origin}`)
    expect(stderr).toContain(`run "trunkline login ${as.url.href}"`)
  })
})

test('grants and logout show and remove logins, without tokens', async () => {
  expect((await ran(['grants'])).stderr).toContain('no logins')
  await logIn([], browse)
  const { stdout } = await ran(['grants', '--json'])
  expect(JSON.parse(stdout).logins).toMatchObject([
    { server: as.url.href, issuer: as.origin, isRenewable: true },
  ])
  expect(stdout).not.toMatch(/access-|refresh-/)
  expect((await ran(['grants'])).stdout).toContain(`${as.url.href} (at ${as.origin}`)
  const none = await ran(['call', as.url.href, 'whoami', '--auth', 'none'])
  expect(none.code).toBe(6)
  expect((await ran(['logout', as.url.href])).stdout).toBe(`logged out: ${as.url.href}\n`)
  expect(as.at('/revoke').map(({ form }) => form.get('token'))).toEqual(['refresh-1', 'access-1'])
  expect((await ran(['logout', as.url.href])).stderr).toContain('no login to remove')
})

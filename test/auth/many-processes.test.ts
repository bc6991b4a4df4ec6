import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { fileStore, login } from '../../src/auth/index.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { authorizationServer } from '../support/authorization-server.ts'
import { pollOptions } from '../support/poll-options.ts'

const program = fileURLToPath(new URL('refresher.js', import.meta.url))
const holder = fileURLToPath(new URL('lock-holder.js', import.meta.url))
/**
 * How often each of the five processes needs other tokens. They use what another one has renewed, so that there are fewer
 * refreshes: about 90 with 60, and more than 300 with 240, which is the long run.
 */
const times = process.env.TRUNKLINE_REFRESHES ?? '12'

test('five processes that share a file store renew tokens without ever losing them, although another one is killed while it does', async () => {
  const as = await authorizationServer()
  const folder = join(mkdtempSync(join(tmpdir(), 'trunkline-many-')), 'tokens')
  const open = (page: URL) => as.open(page)
  await login(as.url, { store: fileStore(folder), redirect: 'http://127.0.0.1:9/callback', open })
  const mcp = as.routes.get('/mcp')
  const used = new Set<string>()
  as.routes.set('/mcp', request => {
    // Each process can use a token once, so that all of them need other tokens all the time.
    const use = `${request.headers['x-process']} ${request.headers.authorization}`
    if (used.has(use)) return { status: 401, headers: { 'www-authenticate': as.challenge.value } }
    used.add(use)
    return mcp?.(request) ?? {}
  })
  const children = Array.from({ length: 5 }, () =>
    spawn(process.execPath, [program, as.url.href, folder, times], { stdio: 'pipe' }),
  )
  const errors = children.map(child => text(child.stderr))
  await Promise.all(children.map(child => once(child.stdout, 'data')))
  const killed = spawn(process.execPath, [holder, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(killed.stdout, 'data')
  for (const child of children) child.stdin.end('go\n')
  // Once they wait for the lock: nobody can renew the tokens that the server refuses.
  await vi.waitUntil(() => used.size === 5, pollOptions)
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  // The time after which its lock counts as abandoned passes.
  const past = (Date.now() - limits.storeLockMs.default) / 1000 - 1
  const [lock = ''] = readdirSync(folder).filter(name => name.endsWith('.lock'))
  utimesSync(join(folder, lock), past, past)
  const codes = await Promise.all(children.map(child => once(child, 'close')))
  expect((await Promise.all(errors)).join('')).toBe('')
  expect(codes.map(([code]) => code)).toEqual([0, 0, 0, 0, 0])
  const refreshed = as.at('/token').filter(({ form }) => form.has('refresh_token'))
  expect(refreshed.length).toBeGreaterThan(10)
  // The scripted server ends the authorization if a refresh token is used twice.
  const spent = refreshed.map(({ form }) => form.get('refresh_token'))
  expect(new Set(spent).size).toBe(spent.length)
  expect(as.at('/authorize')).toHaveLength(1)
  expect(readdirSync(folder).filter(name => !name.endsWith('.json'))).toEqual([])
  rmSync(join(folder, '..'), { recursive: true })
  await as.close()
})

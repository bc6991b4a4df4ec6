import { EventEmitter } from 'node:events'
import { request } from 'node:http'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  authorizationServer,
  authorizedRequest,
} from '../../../../test/support/authorization-server.ts'
import { limits } from '../../../util/limits/limits.ts'
import { oauth } from '../oauth.ts'
import { memoryStore } from '../store/memory-store.ts'
import { begin, finish, login, revoke } from './login.ts'
import { loopback } from './loopback.ts'
import { openInBrowser, webPage } from './node-browser.ts'
import { askOnTerminal } from './node-terminal.ts'

let as: Awaited<ReturnType<typeof authorizationServer>>
beforeEach(async () => {
  as = await authorizationServer()
})
afterEach(async () => {
  vi.useRealTimers()
  await as.close()
})

describe('loopback', () => {
  const isExpected = (callback: URL) => callback.searchParams.get('state') === 's'

  /** Sends a request as a browser does, with any host and method. */
  function visit(uri: string, { method = 'GET', host = new URL(uri).host, path = '' } = {}) {
    return new Promise<{ status: number; body: string; headers: object }>((resolve, reject) => {
      const { hostname, port, pathname, search } = new URL(uri)
      const target = { hostname, port, path: path || pathname + search, method, headers: { host } }
      request(target, async response => {
        const body = await text(response)
        resolve({ status: response.statusCode ?? 0, body, headers: response.headers })
      })
        .on('error', reject)
        .end()
    })
  }

  test('waits for the redirect of this login, and refuses every other request', async () => {
    const listener = await loopback().listen({ registered: [], isExpected })
    const [uri = ''] = listener.uris
    expect(uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    const statuses = [
      await visit(`${uri}?state=wrong&code=<script>`),
      await visit(`${uri}?state=s`, { host: 'evil.example' }),
      await visit(`${uri}?state=s`, { method: 'POST' }),
      await visit(uri.replace('callback', 'other')),
      await visit(uri, { path: '//evil.example/callback?state=s' }),
    ]
    expect(statuses.map(({ status }) => status)).toEqual([400, 421, 405, 404, 404])
    expect(statuses.map(({ body }) => body).join()).not.toContain('<script>')
    const page = await visit(`${uri}?state=s&code=c`)
    expect(page).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    })
    expect((await listener.callback).href).toBe(`${uri}?state=s&code=c`)
    await listener.close()
    await listener.close()
    await expect(visit(uri)).rejects.toThrow()
  })

  test('listens on the port that the client is registered with, or on another if it is taken', async () => {
    const first = await loopback().listen({ registered: [], isExpected })
    await first.close()
    const again = await loopback().listen({ registered: first.uris, isExpected })
    expect(again.uris).toEqual(first.uris)
    const other = await loopback().listen({ registered: first.uris, isExpected })
    expect(other.uris).not.toEqual(first.uris)
    await again.close()
    await other.close()
  })

  test.each([{ host: '0.0.0.0' }, { path: 'callback' }, { path: '/a?b' }, { port: -1 }])(
    '%j is a TypeError',
    options => {
      // The check: each row is invalid on purpose.
      expect(() => loopback(options as object)).toThrow(TypeError)
    },
  )

  test('is where a browser returns to, and the port is registered', async () => {
    const open = async (page: URL) => {
      const back = await as.open(page)
      await (await fetch(back)).text()
    }
    const credentials = oauth({ redirect: loopback(), open })
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    const [registered] = JSON.parse(as.at('/register')[0]?.body ?? '').redirect_uris
    expect(as.at('/authorize')[0]?.query.get('redirect_uri')).toBe(registered)
  })

  test('is registered as localhost where the address is refused', async () => {
    as.routes.set('/register', ({ body }) =>
      body.includes('127.0.0.1')
        ? { status: 400, body: { error: 'invalid_redirect_uri' } }
        : { body: { client_id: 'named' } },
    )
    const open = async (page: URL) => void (await (await fetch(await as.open(page))).text())
    expect(await authorizedRequest(oauth({ redirect: loopback(), open }), as.url)).toBe(200)
    expect(as.at('/authorize')[0]?.query.get('redirect_uri')).toMatch(/^http:\/\/localhost:/)
  })
})

describe('the browser', () => {
  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'http://as.example/',
    'https://user@as.example/',
    'vscode://x',
  ])('never opens %s', url => {
    expect(() => webPage(new URL(url))).toThrow(TypeError)
  })

  test.each([
    ['https://as.example/a b"c`$(d)\n', 'https://as.example/a%20b%22c%60$(d)'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1/'],
  ])('gets %j as one argument', (url, page) => {
    expect(webPage(new URL(url))).toBe(page)
  })

  test.each([
    ['linux', { DISPLAY: ':0' }, ['xdg-open']],
    ['darwin', {}, ['open']],
    ['win32', {}, ['rundll32', 'url.dll,FileProtocolHandler']],
    ['linux', {}, undefined],
    ['linux', { DISPLAY: ':0', SSH_CONNECTION: 'x' }, undefined],
  ])('on %s with %j is started by %j', async (platform, env, command) => {
    const started: unknown[] = []
    const start = (program: string, args: readonly string[], options: { shell: boolean }) => {
      started.push([program, ...args], options.shell)
      const child = Object.assign(new EventEmitter(), { unref: () => {} })
      queueMicrotask(() => child.emit('spawn'))
      return child
    }
    const page = 'https://as.example/'
    // The check: the function is called in the one way that this replacement has.
    const isOpen = await openInBrowser(new URL(page), { platform, env }, start as never)
    expect(isOpen).toBe(command !== undefined)
    expect(started).toEqual(command === undefined ? [] : [[...command, page], false])
  })
})

describe('a login on a terminal', () => {
  const page = new URL('https://as.example/authorize?x=1')
  const isExpected = (callback: URL) => callback.searchParams.get('state') === 's'
  const terminal = (isTTY: boolean) => {
    const stdin = Object.assign(new PassThrough(), { isTTY })
    let text = ''
    const stderr = {
      write: (more: string) => {
        text += more
      },
    }
    return { stdin, stderr, printed: () => text }
  }
  const signal = () => new AbortController().signal

  test('takes the address that the user pastes, and asks again for any other', async () => {
    const { stdin, stderr, printed } = terminal(true)
    const asked = askOnTerminal(page, isExpected, signal(), { stdin, stderr })
    stdin.write('\nhello\nhttp://127.0.0.1/callback?state=x\n')
    stdin.write('  http://127.0.0.1/callback?state=s&code=c \n')
    expect((await asked)?.href).toBe('http://127.0.0.1/callback?state=s&code=c')
    const text = printed()
    expect(text).toContain(page.href)
    expect(text.match(/does not belong/g)).toHaveLength(2)
  })

  test('only prints the address if nobody can paste one', async () => {
    const { stdin, stderr, printed } = terminal(false)
    expect(await askOnTerminal(page, isExpected, signal(), { stdin, stderr })).toBeUndefined()
    expect(printed()).toContain(page.href)
  })

  test('ends when the browser has returned by itself', async () => {
    const { stdin, stderr } = terminal(true)
    const done = new AbortController()
    const asked = askOnTerminal(page, isExpected, done.signal, { stdin, stderr })
    done.abort()
    expect(await asked).toBeUndefined()
  })
})

describe('for a website', () => {
  const redirect = 'https://app.example/callback'
  const store = memoryStore()
  const options = { redirect, store }

  test('begin and finish log a user in, with plain JSON in between', async () => {
    const { url, pending } = await begin(as.url, options)
    const back = await as.open(url)
    expect(JSON.parse(as.at('/register')[0]?.body ?? '')).toMatchObject({
      application_type: 'web',
      redirect_uris: [redirect],
    })
    const result = await finish(JSON.parse(JSON.stringify(pending)), back, options)
    expect(result).toMatchObject({ issuer: as.origin, isRenewable: true })
    expect(JSON.stringify(result)).not.toMatch(/access-|refresh-/)
    expect(await authorizedRequest(oauth({ store }), as.url)).toBe(200)
  })

  test.each([
    ['another state', 'state', 'x', 'state-mismatch'],
    ['another issuer', 'iss', 'https://evil.example', 'issuer-mismatch'],
    ['an error', 'error', 'access_denied', 'denied'],
  ])('a callback with %s is refused', async (_, name, value, code) => {
    const { url, pending } = await begin(as.url, options)
    const back = await as.open(url)
    back.searchParams.set(name, value)
    await expect(finish(pending, back, options)).rejects.toMatchObject({ code })
    expect(as.at('/token')).toEqual([])
  })

  test('a callback that comes too late is refused', async () => {
    const { url, pending } = await begin(as.url, options)
    const back = await as.open(url)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + limits.flowMs.default + 1 })
    await expect(finish(pending, back, options)).rejects.toMatchObject({ code: 'login-required' })
    expect(as.at('/token')).toEqual([])
  })
})

test('login stores tokens for later, and revoke ends them and removes everything', async () => {
  const store = memoryStore()
  const options = { store, redirect: 'http://127.0.0.1:9/callback', open: as.open }
  expect(await login(as.url, options)).toMatchObject({ issuer: as.origin, isRenewable: true })
  expect(await authorizedRequest(oauth({ store }), as.url)).toBe(200)
  expect(await revoke(as.url, { store })).toBe(true)
  expect(as.at('/revoke').map(({ form }) => form.get('token'))).toEqual(['refresh-1', 'access-1'])
  expect(await store.keys?.()).toEqual([])
  expect(await revoke(as.url, { store })).toBe(false)
})

test('revoke removes tokens although the authorization server is away', async () => {
  const store = memoryStore()
  await login(as.url, { store, redirect: 'http://127.0.0.1:9/callback', open: as.open })
  as.routes.set('/revoke', () => Promise.reject(new Error('away')))
  expect(await revoke(as.url, { store })).toBe(true)
  expect(await store.keys?.()).toEqual([])
})

import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { consoleRoutes, type RouteParts } from '../../src/console/http/routes.ts'
import type { ToolsAnswer } from '../../src/console/wire.ts'
import { events } from '../../src/observe/events.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { type Sent, send, serveConsole, watchFrames } from './setup.ts'

// The check: no handler is called, so that nothing of the parts is read.
const routes = consoleRoutes({ options: {} } as RouteParts)
const guarded = routes.filter(({ access }) => access !== 'open')
const json = { 'content-type': 'application/json' }
/** After ten wrong keys, all further ones get 429. */
const refused = [401, 429]

let served: Awaited<ReturnType<typeof serveConsole>>
let readOnly: typeof served
beforeAll(async () => {
  served = await serveConsole()
  readOnly = await serveConsole({ actions: 'look' })
})
afterAll(async () => {
  await served.close()
  await readOnly.close()
})

const urlOf = (path: string, base = served.base): string => {
  const filled = path.replace(/:\w+/g, 'index.html')
  return new URL(filled.slice(1), base).href
}
const withKey = (key = served.page.key) => ({ authorization: `Bearer ${key}` })
const post = (method: string): Sent => (method === 'POST' ? { method, body: '{}' } : {})

describe.each(routes)('$method $path', ({ method, path, access }) => {
  const attacks: readonly (readonly [name: string, headers: Record<string, string>])[] = [
    ['a page of another origin', { origin: 'https://evil.test' }],
    ['a page of another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['another host name (DNS rebinding)', { host: 'evil.test' }],
    ['a page of another site, without Origin', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same site, without Origin', { 'sec-fetch-site': 'same-site' }],
  ]
  it.each(attacks)('refuses %s', async (_, headers) => {
    const sent = { ...post(method), headers: { ...withKey(), ...json, ...headers } }
    const { status, headers: received, text } = await send(urlOf(path), sent)
    expect(status).toBe(403)
    expect(text).toContain('foreign_origin')
    expect(Object.keys(received).filter(name => name.startsWith('access-control'))).toEqual([])
  })

  if (access === 'open') return

  it('refuses a request without a key, and one in a cookie or in the address', async () => {
    const { key } = readOnly.page
    const url = urlOf(path, readOnly.base)
    for (const headers of [json, { ...json, cookie: `key=${key}` }]) {
      expect(refused).toContain((await send(url, { ...post(method), headers })).status)
    }
    const sent = { ...post(method), headers: json }
    expect(refused).toContain((await send(`${url}?key=${key}`, sent)).status)
  })

  if (method !== 'POST') return

  it('refuses a body that is not JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { ...withKey(), 'content-type': type }
      expect((await send(urlOf(path), { method, headers, body: '{}' })).status).toBe(415)
    }
    const sent = { method, headers: { ...withKey(), ...json }, body: '{' }
    expect((await send(urlOf(path), sent)).status).toBe(400)
  })

  it('refuses a body that is too large', async () => {
    const body = JSON.stringify('x'.repeat(limits.consoleBodyBytes.default))
    const sent = { method, headers: { ...withKey(), ...json }, body }
    expect((await send(urlOf(path), sent)).status).toBe(413)
  })

  it('is refused by a read-only console if it changes something', async () => {
    const headers = { ...withKey(readOnly.page.key), ...json }
    const { status } = await send(urlOf(path, readOnly.base), { method, headers, body: '{}' })
    if (access === 'changes') expect(status).toBe(403)
    else expect(status).not.toBe(403)
  })
})

test('every route that is not a file of the page needs the key', () => {
  expect(routes.filter(({ access }) => access === 'open').map(({ path }) => path)).toEqual([
    '/',
    '/assets/:file',
  ])
  expect(guarded.every(({ path }) => path.startsWith('/api/'))).toBe(true)
  expect(routes.filter(({ method, access }) => method === 'GET' && access === 'changes')).toEqual(
    [],
  )
})

test('every response has the headers that protect the page', async () => {
  for (const path of ['', 'api/state', 'nothing']) {
    const { headers } = await send(`${served.base}${path}`, { headers: withKey() })
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'")
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
  }
})

test('files of the page may be kept, because their names change with their contents', async () => {
  const { text } = await send(served.base)
  const [, script = ''] = /src="(assets\/[^"]+)"/.exec(text) ?? []
  const { status, headers } = await send(`${served.base}${script}`)
  expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable'])
})

test.each([
  ['GET', 'api/nothing', 404],
  ['GET', 'assets/..%2Findex.js', 404],
  ['POST', 'api/state', 405],
  ['OPTIONS', 'api/state', 405],
  ['GET', 'api/servers/unknown', 404],
  ['GET', 'api/figures?range=1y', 400],
  ['GET', 'api/stream?topics=all', 400],
  ['GET', 'api/tools/unknown', 404],
])('%s %s: %i', async (method, path, expected) => {
  const { status, text } = await send(`${served.base}${path}`, { method, headers: withKey() })
  expect(status).toBe(expected)
  expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String) } })
})

describe('keys', () => {
  let own: typeof served | undefined
  afterEach(async () => own?.close())

  it('that are wrong too often get 429, and the right one is still accepted', async () => {
    own = await serveConsole()
    const ask = async (key: string) =>
      (await send(`${own?.base}api/state`, { headers: withKey(key) })).status
    for (let at = 0; at < limits.consoleWrongKeys.default; at++) expect(await ask('x')).toBe(401)
    expect(await ask('x')).toBe(429)
    expect(await ask(own.page.key)).toBe(200)
  })

  it('can be renewed, which makes the old one wrong and ends open streams', async () => {
    own = await serveConsole()
    const { key } = own.page
    const stream = await watchFrames(own.base, key, '')
    own.page.renewKey()
    await stream.ended
    const status = async (one: string) =>
      (await send(`${own?.base}api/state`, { headers: withKey(one) })).status
    expect([await status(key), await status(own.page.key)]).toEqual([401, 200])
    expect(own.page.key).toMatch(/^[\w-]{32}$/)
  })
})

describe('streams', () => {
  it('collect calls only while a page shows them', async () => {
    const isHeard = () => events.callStarted.hasSubscribers || events.callFinished.hasSubscribers
    expect(isHeard()).toBe(false)
    const looking = await watchFrames(served.base, served.page.key, '')
    await expect.poll(() => looking.frames.map(({ event }) => event)).toContain('fleet')
    expect(isHeard()).toBe(false)
    const traffic = await watchFrames(served.base, served.page.key, 'calls')
    expect(isHeard()).toBe(true)
    await looking.close()
    await traffic.close()
  })

  it('show or count every call', async () => {
    const own = await serveConsole()
    const traffic = await watchFrames(own.base, own.page.key, 'calls')
    const client = await connect(own.address)
    const calls = 400
    await Promise.all(
      Array.from({ length: calls }, (_, at) =>
        client.call(at % 10 === 0 ? 'demo__fail' : 'demo__echo', { text: 'x' }),
      ),
    )
    const counted = () => {
      let [shown, left] = [new Set<number>(), 0]
      for (const frame of traffic.frames) {
        if (frame.event !== 'calls') continue
        for (const row of frame.rows) {
          if (row.method === 'tools/call' && row.ms !== undefined) shown.add(row.seq)
        }
        left += frame.left.reduce(
          (sum, { server, count }) => sum + (server === 'demo' ? count : 0),
          0,
        )
      }
      return { shown: shown.size, sum: shown.size + left }
    }
    await expect.poll(() => counted().sum).toBe(calls)
    await client.close()
    await traffic.close()
    await own.close()
  })

  it('are limited in number', async () => {
    const own = await serveConsole()
    const most = limits.consoleViewers.default
    const open = await Promise.all(
      Array.from({ length: most }, () => watchFrames(own.base, own.page.key, '')),
    )
    const further = await watchFrames(own.base, own.page.key, '')
    expect(further.status).toBe(503)
    await Promise.all([...open, further].map(each => each.close()))
    await own.close()
  })
})

test('arguments and results of calls are in no response', async () => {
  const canary = 'canary-5f3a9'
  const traffic = await watchFrames(served.base, served.page.key, 'calls,log')
  const client = await connect(served.address)
  const result = await client.call('demo__echo', { text: canary })
  expect(result.text).toBe(canary)
  const rows = () => traffic.frames.flatMap(frame => (frame.event === 'calls' ? frame.rows : []))
  await expect.poll(() => rows().some(({ name }) => name === 'demo__echo')).toBe(true)
  for (const { path } of guarded.filter(({ method }) => method === 'GET')) {
    const { text } = await send(urlOf(path), { headers: withKey() })
    expect(text).not.toContain(canary)
  }
  expect(JSON.stringify(traffic.frames)).not.toContain(canary)
  await client.close()
  await traffic.close()
})

test('secrets in what servers say are hidden', async () => {
  const secret = 'sk-canary-77'
  const program = `console.error('token=${secret} is not valid'); process.exit(1)`
  const own = await serveConsole(
    {},
    {
      servers: {
        broken: {
          command: process.execPath,
          args: ['-e', program],
          env: { API_TOKEN: secret },
          restart: { maxRestarts: 1, minMs: 1 },
        },
      },
    },
  )
  const stream = await watchFrames(own.base, own.page.key, 'log')
  await expect.poll(() => JSON.stringify(stream.frames)).toContain('is not valid')
  for (const path of ['api/state', 'api/servers/broken', 'api/log']) {
    const { text } = await send(`${own.base}${path}`, { headers: withKey(own.page.key) })
    expect(text).not.toContain(secret)
  }
  expect(JSON.stringify(stream.frames)).not.toContain(secret)
  await stream.close()
  await own.close()
})

test('tools are listed with the reasons of the router', async () => {
  const { text } = await send(`${served.base}api/tools`, { headers: withKey() })
  // The check: the answer of this route.
  const { rows } = JSON.parse(text) as ToolsAnswer
  const hidden = rows.filter(({ shown }) => shown === undefined)
  expect(hidden.map(({ server, own, why }) => ({ server, name: own, why, what: 'tool' }))).toEqual(
    served.router.hidden(),
  )
  expect(rows.find(({ shown }) => shown === 'demo__echo')).toMatchObject({
    own: 'echo',
    why: 'prefixed with the name of its server',
  })
})

test('a server can be retried, and an unknown one cannot', async () => {
  const ask = async (name: string) =>
    (
      await send(`${served.base}api/servers/${name}/retry`, {
        method: 'POST',
        headers: { ...withKey(), ...json },
        body: '{}',
      })
    ).status
  expect([await ask('demo'), await ask('other')]).toEqual([200, 404])
})

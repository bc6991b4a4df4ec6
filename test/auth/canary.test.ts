import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  apiKeys,
  bearer,
  begin,
  clientCredentials,
  connectPages,
  exchange,
  fileStore,
  finish,
  newApiKey,
  oauth,
  userGrants,
  type Verifier,
} from '../../src/auth/index.ts'
import { connect, listen, Server } from '../../src/index.ts'
import { events, observe, openAuditLog } from '../../src/observe/index.ts'
import { Router } from '../../src/router/router.ts'
import { devIssuer } from '../../src/testing/index.ts'
import { longestLeak, recordingProxy } from '../support/acting.ts'
import { Browser, linkOf, locationOf } from '../support/connecting.ts'
import { registerTelemetry, unregisterTelemetry } from '../support/telemetry.js'

/** The secrets of a run, by what they are. */
class Canaries {
  readonly #secrets = new Map<string, string>()

  add(what: string, secret: string): void {
    // The parts of tokens before their signature are the same in many of them.
    const own = secret.split('.').at(-1) ?? ''
    expect(own.length, what).toBeGreaterThanOrEqual(16)
    this.#secrets.set(what, own)
  }

  get names(): readonly string[] {
    return [...this.#secrets.keys()]
  }

  /** The secrets of which a text contains a part, in any usual encoding. */
  in(text: string, allowed: readonly string[] = []): readonly string[] {
    const found: string[] = []
    for (const [what, secret] of this.#secrets) {
      const bytes = Buffer.from(secret)
      const forms = [secret, bytes.toString('hex'), encodeURIComponent(secret)]
      const inBasic = Buffer.from(`router:${secret}`).toString('base64')
      forms.push(bytes.toString('base64'), bytes.toString('base64url'), inBasic)
      if (!allowed.includes(what) && forms.some(form => longestLeak(form, text) > 0)) {
        found.push(what)
      }
    }
    return found
  }
}

/** Everything that programs say of themselves: logs, events, spans, errors, and what they print. */
function sinks() {
  const texts: string[] = []
  const add = (value: unknown): void => {
    texts.push(String(value), JSON.stringify(value) ?? '')
    for (let at = value; at instanceof Error; at = at.cause) texts.push(at.stack ?? '', at.message)
  }
  const stream = new Writable({
    write: (chunk, _, done) => {
      texts.push(String(chunk))
      done()
    },
  })
  for (const channel of Object.values(events)) {
    onTestFinished(channel.subscribe((event: unknown) => add(event)))
  }
  for (const output of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(output, 'write').mockImplementation(chunk => texts.push(String(chunk)) > 0)
    onTestFinished(() => spy.mockRestore())
  }
  return { add, stream, text: () => texts.join('\n') }
}

/** The texts of all files in a folder and in those in it, by path. */
function filesIn(folder: string, prefix = ''): readonly (readonly [path: string, text: string])[] {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return filesIn(path, `${prefix}${name}/`)
    return [[`${prefix}${name}`, readFileSync(path, 'latin1')] as const]
  })
}

/** Starts a server with a tool, which accepts tokens of an issuer, behind a proxy that records its requests. */
async function recorded(verify: Verifier) {
  const server = new Server({ name: 'upstream', version: '1' })
  server.tool('who', {}, (_, { caller }) => String(caller.principal?.subject))
  server.tool('fail', {}, () => {
    throw new Error('the tool has failed')
  })
  const proxy = await recordingProxy()
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    allowedHosts: [new URL(proxy.url).host],
    auth: { resource: proxy.url, verify },
  })
  proxy.forwardTo(Number(new URL(listener.address).port))
  onTestFinished(async () => {
    await proxy.close()
    await listener.close()
    await server.close()
  })
  return proxy
}

const redirect = 'http://127.0.0.1:9/callback'

test('no secret leaves the place that it is for, whatever succeeds or fails', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-canary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const canaries = new Canaries()
  const out = sinks()
  unregisterTelemetry()
  const telemetry = registerTelemetry()
  onTestFinished(() => unregisterTelemetry())

  const clientSecret = 'canary-of-the-client-secret'
  canaries.add('client secret', clientSecret)
  const redirectUris: string[] = []
  const client = { clientId: 'router', clientSecret }
  const front = await devIssuer({ clients: [{ ...client, redirectUris }] })
  const back = await devIssuer({ clients: [client] })
  onTestFinished(() => front.close())
  onTestFinished(() => back.close())
  const upstreams = {
    exchanged: await recorded(front.verifier()),
    granted: await recorded(back.verifier()),
    own: await recorded(back.verifier()),
  }
  const vaultKey = Buffer.from('canary-of-the-key-of-the-vault-00')
  canaries.add('vault key', vaultKey.toString())
  const pages = connectPages({
    login: { issuer: front.issuer, ...client },
    keys: [vaultKey],
    store: fileStore(join(folder, 'vault')),
  })
  const audit = await openAuditLog(join(folder, 'audit.jsonl'))
  const router = new Router({
    servers: {
      exchanged: {
        url: upstreams.exchanged.url,
        auth: exchange({ ...client, issuer: front.issuer }),
      },
      granted: { url: upstreams.granted.url, auth: userGrants({ pages, name: 'granted' }) },
      own: { url: upstreams.own.url, auth: clientCredentials({ ...client, issuer: back.issuer }) },
      failing: {
        url: upstreams.own.url,
        auth: exchange({ ...client, tokenEndpoint: `${front.issuer}/nowhere` }),
        lister: clientCredentials({ ...client, issuer: back.issuer }),
      },
    },
    audit,
    onError: out.add,
  })
  const { stream } = out
  const observer = observe({ endpoint: router, logs: { level: 'debug', stream }, traces: true })
  await observer.ready
  const listener = await listen(router, 'http://127.0.0.1:0/mcp', {
    auth: { verify: front.verifier(), onDecision: out.add },
    pages,
    onError: out.add,
  })
  redirectUris.push(new URL('/connect/login', listener.address).href)
  const { key, record } = await newApiKey('ada')
  canaries.add('API key', key)
  const keyed = await listen(router, 'http://127.0.0.1:0/mcp', {
    auth: { verify: apiKeys({ keys: [record] }), onDecision: out.add },
    onError: out.add,
  })
  const close = async () => {
    await listener.close()
    await keyed.close()
    await router.close({ drainMs: 0 })
    await observer.close()
    await audit.close()
  }
  onTestFinished(close)

  // A user logs in. The tokens are bound to a key.
  const store = fileStore(join(folder, 'tokens'))
  const options = { redirect, store, dpop: 'always' } as const
  const login = await begin(listener.address, options)
  const callback = await front.browser()(login.url)
  canaries.add('authorization code', callback.searchParams.get('code') ?? '')
  canaries.add('PKCE verifier', login.pending.verifier)
  const foreign = new URL(callback)
  foreign.searchParams.set('state', 'of another login')
  await finish(login.pending, foreign, options).catch(out.add)
  await finish(login.pending, callback, options)
  await finish(login.pending, callback, options).catch(out.add)
  const names = (await store.keys?.()) ?? []
  const stored = await store.get(names.find(name => name.startsWith('tokens ')) ?? '')
  const tokens = JSON.parse(stored ?? '{}')
  canaries.add('access token', tokens.accessToken)
  canaries.add('refresh token', tokens.refreshToken)
  canaries.add('DPoP key', tokens.key.d)

  // The same user with a plain token, and with an API key.
  const token = await front.token({ audience: listener.address })
  canaries.add('bearer token', token)
  const callers = [
    await connect(listener.address, { auth: oauth({ store }), onError: out.add }),
    await connect(listener.address, { auth: bearer(token), revisions: ['2025-11-25'] }),
    await connect(keyed.address, { auth: bearer(key), revisions: ['2026-07-28'] }),
  ]
  const browser = new Browser()
  const use = async (): Promise<void> => {
    for (const caller of callers) {
      for await (const tool of caller.tools()) out.add(tool)
      for (const server of ['exchanged', 'granted', 'own', 'failing', 'none']) {
        for (const tool of ['who', 'fail']) {
          out.add(await caller.call(`${server}__${tool}`).catch((error: unknown) => error))
        }
      }
    }
  }
  await use()
  // The user grants access, and another browser comes with what it has seen of that.
  const [, plain] = callers
  const link = linkOf((await plain?.call('granted__who'))?.text ?? '')
  const loggedIn = await front.browser()(locationOf(await browser.open(link)))
  const page = await (await browser.open(loggedIn)).text()
  const approved = await browser.submit(link, page)
  const granted = await back.browser()(locationOf(approved))
  canaries.add('authorization code of the grant', granted.searchParams.get('code') ?? '')
  out.add(await (await new Browser().open(loggedIn)).text())
  out.add(await (await browser.open(granted)).text())
  out.add(await (await new Browser().open(granted)).text())
  for (const [name, value] of browser.cookies) canaries.add(`cookie ${name}`, value)
  await use()
  expect((await plain?.call('granted__who'))?.text).toBe('ada')

  // Requests that are refused, with secrets in all the wrong places.
  const wrong: readonly (readonly [query: string, headers: Record<string, string>])[] = [
    [`?access_token=${token}`, {}],
    ['', { authorization: `Basic ${token}` }],
    ['', { authorization: `Bearer ${token}x` }],
    ['', { authorization: `Bearer ${tokens.accessToken}` }],
    ['', { authorization: `DPoP ${tokens.accessToken}`, dpop: token }],
    ['', { authorization: `Bearer ${key}x` }],
    ['', { authorization: `Bearer ${token}`, 'x-forwarded-for': key, cookie: `token=${token}` }],
  ]
  for (const { address } of [listener, keyed]) {
    for (const [query, headers] of wrong) {
      const init = { method: 'POST', headers, body: '{}' }
      const response = await fetch(address + query, init)
      out.add([response.status, [...response.headers], await response.text()])
    }
  }
  out.add([observer.metricsText(), router.servers(), router.deadLetters(), router.hidden()])
  out.add(router.health())
  for (const caller of callers) await caller.close()
  await close()
  out.add(telemetry.spans())

  expect(canaries.names.length).toBeGreaterThanOrEqual(12)
  expect(telemetry.spans().length).toBeGreaterThan(10)
  expect(out.text().length).toBeGreaterThan(10_000)
  expect(canaries.in(out.text())).toEqual([])
  for (const { text } of Object.values(upstreams)) {
    expect(text().length).toBeGreaterThan(1000)
    expect(canaries.in(text())).toEqual([])
  }
  const files = filesIn(folder)
  expect(files.map(([path]) => path.split('/')[0])).toEqual(
    expect.arrayContaining(['audit.jsonl', 'tokens', 'vault']),
  )
  const inTokens = ['access token', 'refresh token', 'DPoP key']
  for (const [path, text] of files) {
    const allowed = path.startsWith('tokens/') ? inTokens : []
    expect([path, canaries.in(text, allowed)]).toEqual([path, []])
  }
  // The search finds what is there.
  expect(canaries.in(files.map(([, text]) => text).join('\n'))).toEqual(inTokens)
})

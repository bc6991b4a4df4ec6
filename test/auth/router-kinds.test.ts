import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import {
  bearer,
  clientCredentials,
  connectPages,
  exchange,
  login,
  memoryStore,
  oauth,
  userGrants,
} from '../../src/auth/index.ts'
import { connect, listen, type RevisionName, Server } from '../../src/index.ts'
import { openAuditLog, verifyAuditLog } from '../../src/observe/index.ts'
import { Router } from '../../src/router/router.ts'
import { type DevIssuer, devIssuer } from '../../src/testing/index.ts'
import { trunkline } from '../cli/bin.ts'
import { Browser, linkOf, locationOf } from '../support/connecting.ts'
import { officialLogin } from '../support/official-login.ts'

/** Makes a folder for as long as the test lasts. */
function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-kinds-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a server that accepts the tokens of one issuer. */
async function upstream(issuer: DevIssuer): Promise<string> {
  const server = new Server({ name: 'upstream', version: '1' })
  server.tool('who', {}, (_, { caller }) => String(caller.principal?.subject))
  server.tool('purge', {}, () => 'purged')
  const auth = { verify: issuer.verifier() }
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', { auth })
  onTestFinished(async () => {
    await listener.close()
    await server.close()
  })
  return listener.address
}

/** A router in front of three servers, which it reaches in four ways. */
async function setUp() {
  const users = [{ sub: 'ada' }, { sub: 'bob' }]
  const client = { clientId: 'router', clientSecret: 'hush-hush-hush' }
  const redirectUris: string[] = []
  const front = await devIssuer({ users, clients: [{ ...client, redirectUris }] })
  const back = await devIssuer({ users, clients: [client] })
  onTestFinished(() => front.close())
  onTestFinished(() => back.close())
  const [own, theirs, shared] = [await upstream(front), await upstream(back), await upstream(back)]
  const store = memoryStore()
  const redirect = 'http://127.0.0.1:9/callback'
  await login(shared, { store, redirect, open: back.browser('bob') })
  const pages = connectPages({ login: { issuer: front.issuer, ...client } })
  const file = join(temporary(), 'audit.jsonl')
  const audit = await openAuditLog(file)
  const router = new Router({
    servers: {
      exchange: { url: own, auth: exchange({ ...client, issuer: front.issuer }) },
      user: { url: theirs, auth: userGrants({ pages, name: 'user' }) },
      machine: { url: shared, auth: clientCredentials({ ...client, issuer: back.issuer }) },
      stored: { url: shared, auth: oauth({ store }) },
    },
    policy: {
      default: 'deny',
      rules: [
        { name: 'reading', allow: ['*__who'] },
        { name: 'writing', who: { scopes: ['write'] }, allow: ['*__purge'] },
      ],
    },
    audit,
    onError: () => {},
  })
  const auth = { verify: front.verifier() }
  const listener = await listen(router, 'http://127.0.0.1:0/mcp', { auth, pages })
  redirectUris.push(new URL('/connect/login', listener.address).href)
  const close = async () => {
    await listener.close()
    await router.close({ drainMs: 0 })
    await audit.close()
  }
  onTestFinished(close)
  /** Grants access to the server of the users, as the browser of one of them does. */
  const grant = async (link: string, sub: string): Promise<void> => {
    const browser = new Browser()
    const loggedIn = await front.browser(sub)(locationOf(await browser.open(link)))
    const page = await (await browser.open(loggedIn)).text()
    const approved = await browser.submit(link, page)
    const granted = await browser.open(await back.browser(sub)(locationOf(approved)))
    expect(granted.status).toBe(200)
  }
  const { address } = listener
  const tokenOf = (sub: string) => front.token({ sub, audience: address })
  return { front, address, file, tokenOf, grant, close }
}

/** The kinds of credentials, with the user that a server sees for a caller. */
const seen = (sub: string) => ({ exchange: sub, user: sub, machine: 'router', stored: 'bob' })

test('a router reaches servers by every kind of credential, and its policy and audit log hold', async () => {
  const { front, address, file, tokenOf, grant, close } = await setUp()
  const callers: readonly (readonly [string, RevisionName])[] = [
    ['ada', '2025-11-25'],
    ['bob', '2026-07-28'],
  ]
  for (const [sub, revision] of callers) {
    const links: string[] = []
    const url = async ({ url: link }: { readonly url: string }) => {
      links.push(link)
      await grant(link, sub)
      return { action: 'accept' as const }
    }
    await using caller = await connect(address, {
      auth: bearer(await tokenOf(sub)),
      revisions: [revision],
      elicit: { url },
    })
    for (const [kind, user] of Object.entries(seen(sub))) {
      const answer = await caller.call(`${kind}__who`).catch(async error => {
        // In sessions the error names the page, and the client calls again.
        expect([kind, error.code]).toEqual(['user', -32042])
        await url(error.data.elicitations[0])
        return caller.call(`${kind}__who`)
      })
      expect([kind, answer.text]).toEqual([kind, user])
      await expect(caller.call(`${kind}__purge`)).rejects.toThrow('write')
    }
    expect(links).toHaveLength(1)
  }

  // A client of the official package logs in, is challenged by the policy, and asks for the scope.
  const official = officialLogin(front.browser('ada'))
  const open = async () => {
    const client = new Client({ name: 'official', version: '1' })
    onTestFinished(() => client.close())
    const transport = new StreamableHTTPClientTransport(new URL(address), {
      authProvider: official.provider,
    })
    const finish = () => transport.finishAuth(official.callback())
    return { client, finish, connect: () => client.connect(transport) }
  }
  const first = await open()
  await expect(first.connect()).rejects.toThrow(/unauthorized/i)
  await first.finish()
  const second = await open()
  await second.connect()
  const purge = { name: 'exchange__purge', arguments: {} }
  await expect(second.client.callTool(purge)).rejects.toThrow()
  await second.finish()
  const third = await open()
  await third.connect()
  const purged = await third.client.callTool(purge)
  expect(purged.content).toEqual([{ type: 'text', text: 'purged' }])
  expect(official.pages.at(-1)?.searchParams.get('scope')).toContain('write')
  await third.client.close()

  await close()
  const { lines, broken } = await verifyAuditLog(file)
  expect(broken).toBeUndefined()
  // A decision for each call that was forwarded or challenged.
  expect(lines).toBeGreaterThanOrEqual(18)
})

test('a caller that cannot show a page gets the link, and no other credential is used', async () => {
  const { address, tokenOf, grant } = await setUp()
  await using caller = await connect(address, { auth: bearer(await tokenOf('ada')) })
  const words = await caller.call('user__who')
  expect(words.isError).toBe(true)
  await grant(linkOf(words.text), 'ada')
  expect((await caller.call('user__who')).text).toBe('ada')
})

test('a tool that the policy hides leads to no page, as one that does not exist', async () => {
  const { address, tokenOf } = await setUp()
  await using caller = await connect(address, { auth: bearer(await tokenOf('ada')) })
  for (const name of ['user__delete', 'none__delete']) {
    await expect(caller.call(name)).rejects.toMatchObject({ kind: 'tool_not_found' })
  }
})

test('up does not start with credentials for servers where other machines are not identified', async () => {
  const file = join(temporary(), 'trunkline.json')
  const servers = { notes: { url: 'http://127.0.0.1:9/mcp', auth: { bearer: '$' + '{NOTES}' } } }
  writeFileSync(file, JSON.stringify({ listen: 'http://0.0.0.0:0/mcp', servers }))
  const { code, stderr } = await trunkline(['up', file], { env: { NOTES: 'a token of ours' } })
  expect(code).not.toBe(0)
  expect(stderr).toMatch(/other machines/)
})

/** Reports every module that a program imports on its stderr. */
const reporting = `
import { writeSync } from 'node:fs'
export async function resolve(name, context, next) {
  const found = await next(name, context)
  writeSync(2, found.url + '\\n')
  return found
}`
const asUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`
const registering = `import { register } from 'node:module'; register(${JSON.stringify(asUrl(reporting))})`

test('a program on stdio without authorization never loads jose', async () => {
  const path = fileURLToPath(new URL('../fixtures/everything-stdio.js', import.meta.url))
  const importsOf = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, ['--import', asUrl(registering), ...args])
    const imported = text(child.stderr)
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    return { answer: await text(child.stdout), imported: await imported }
  }
  const { answer, imported } = await importsOf(path)
  expect(answer).toContain('"protocolVersion":"2025-11-25"')
  expect(imported).toContain('/dist/')
  expect(imported).not.toContain('/jose/')
  // The trace shows it where it is loaded.
  const using = await importsOf('--input-type=module', '--eval', "await import('jose')")
  expect(using.imported).toContain('/jose/')
})

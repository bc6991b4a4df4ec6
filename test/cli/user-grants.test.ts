import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bearer, oauth } from '../../src/auth/index.ts'
import { connect, listen, Server } from '../../src/index.ts'
import { type DevIssuerOptions, devIssuer } from '../../src/testing/index.ts'
import { Browser, linkOf, locationOf } from '../support/connecting.ts'
import { chooseUser } from '../support/dev-login.ts'
import { trunkline } from './bin.ts'
import { emptyFolder, started } from './started.ts'

const users = [{ sub: 'ada' }, { sub: 'bob' }]

/** Starts an authorization server, for as long as the test lasts. */
async function issuing(options: DevIssuerOptions = {}) {
  const issuer = await devIssuer({ users, ...options })
  onTestFinished(() => issuer.close())
  return issuer
}

type Issuer = Awaited<ReturnType<typeof issuing>>

/** Starts a server that accepts the tokens of an authorization server only; resolves to its address. */
async function notesOf(issuer: Issuer): Promise<string> {
  const server = new Server({ name: 'notes', version: '1.0.0' })
  server.tool('list', {}, (_, { caller }) => `the notes of ${caller.principal?.subject}`)
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { verify: issuer.verifier() },
  })
  onTestFinished(async () => {
    await listener.close()
    await server.close()
  })
  return listener.address
}

/** Refers to an environment variable in a configuration file. */
const variable = (name: string): string => `\${${name}}`

const anyPort = ['--listen', 'http://127.0.0.1:0/mcp']

describe('up with "user" as auth of a server', () => {
  test('users grant access on its pages, also for the next process', async () => {
    const cwd = emptyFolder()
    const redirectUris: string[] = []
    const client = { clientId: 'router-pages', clientSecret: 'hush-hush-hush' }
    const front = await issuing({ clients: [{ ...client, redirectUris }] })
    const back = await issuing()
    const config = {
      mcpServers: { notes: { url: await notesOf(back), auth: { user: {} } } },
      auth: {
        jwt: { issuer: front.issuer },
        login: { clientId: client.clientId, clientSecret: variable('LOGIN_SECRET') },
      },
      sealingKeys: [variable('SEALING_KEY')],
      vault: join(cwd, 'vault'),
      audit: join(cwd, 'audit.jsonl'),
    }
    writeFileSync(join(cwd, 'servers.json'), JSON.stringify(config))
    const env = { LOGIN_SECRET: client.clientSecret, SEALING_KEY: 'ab'.repeat(32) }
    const up = () => started(['up', 'servers.json', ...anyPort], { cwd, env })
    const callAs = async (sub: string, address: string) => {
      const token = await front.token({ sub, audience: address })
      await using caller = await connect(address, { auth: bearer(token) })
      return (await caller.call('notes__list')).text
    }

    const first = await up()
    const [address = ''] = first.report.addresses
    redirectUris.push(new URL('/connect/login', address).href)
    const link = linkOf(await callAs('ada', address))
    const browser = new Browser()
    const login = locationOf(await browser.open(link))
    const consent = await browser.open(await front.browser('ada')(login))
    const approved = await browser.submit(link, await consent.text())
    const last = await browser.open(await back.browser('ada')(locationOf(approved)))
    expect(await last.text()).toContain('Connected')
    expect(await callAs('ada', address)).toBe('the notes of ada')
    expect(await callAs('bob', address)).toContain('/connect/')
    first.child.kill('SIGINT')
    expect(await once(first.child, 'exit')).toEqual([0, null])

    const second = await up()
    expect(await callAs('ada', second.report.addresses[0])).toBe('the notes of ada')
    second.child.kill('SIGINT')
    expect(await once(second.child, 'exit')).toEqual([0, null])

    expect((await trunkline(['audit', 'verify', 'audit.jsonl'], { cwd })).code).toBe(0)
    const log = readFileSync(config.audit, 'utf8')
    const events = log
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(events.filter(({ event }) => event === 'login' || event === 'grant')).toMatchObject([
      { event: 'login', outcome: 'accepted', principal: `${front.issuer} ada` },
      { event: 'grant', outcome: 'made', server: 'notes', issuer: back.issuer },
    ])
    for (const secret of [client.clientSecret, env.SEALING_KEY, 'eyJ'])
      expect(log).not.toContain(secret)
  })

  test('works with --dev-auth, and so does a policy', async () => {
    const cwd = emptyFolder()
    const back = await issuing()
    const config = {
      mcpServers: { notes: { url: await notesOf(back), auth: { user: {} } } },
      policy: {
        default: 'deny',
        rules: [{ name: 'admins', who: { roles: ['admin'] }, allow: ['*'] }],
      },
    }
    writeFileSync(join(cwd, 'servers.json'), JSON.stringify(config))
    const { report } = await started(['up', 'servers.json', '--dev-auth', ...anyPort], { cwd })
    const [address = ''] = report.addresses
    const callerOf = (sub: string) =>
      connect(address, { auth: oauth({ open: page => chooseUser(page, sub) }) })
    await using ada = await callerOf('ada')
    const link = linkOf((await ada.call('notes__list')).text)
    const browser = new Browser()
    const approved = await browser.submit(link, await (await browser.open(link)).text())
    await browser.open(await back.browser('bob')(locationOf(approved)))
    // The user chose another account there.
    expect((await ada.call('notes__list')).text).toBe('the notes of bob')
    await using bob = await callerOf('bob')
    await expect(bob.call('notes__list')).rejects.toMatchObject({ kind: 'tool_not_found' })
  })

  test('is refused if nobody could be asked', async () => {
    const cwd = emptyFolder()
    const server = { url: 'http://127.0.0.1:9/mcp', auth: { user: {} } }
    writeFileSync(join(cwd, 'servers.json'), JSON.stringify({ mcpServers: { notes: server } }))
    const { code, stderr } = await trunkline(['up', 'servers.json', ...anyPort], { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining('acts for its callers')])
  })
})

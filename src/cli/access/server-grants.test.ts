import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Browser, linkOf, locationOf } from '../../../test/support/connecting.ts'
import { ran } from '../../../test/support/ran.ts'
import { bearer } from '../../auth/client/machine/bearer.ts'
import { connect } from '../../connect.ts'
import { listen } from '../../listen.ts'
import { readConfig } from '../../router/config/read.ts'
import { Router } from '../../router/router.ts'
import { Server } from '../../server/server.ts'
import { devIssuer } from '../../testing/dev-issuer/dev-issuer.ts'
import { guardOptions } from '../up/caller-auth.ts'
import { planOf } from '../up/plan.ts'
import { ServerGrants } from './server-grants.ts'

const options = { listen: [], isPublic: false }
const key = 'ab'.repeat(32)

test('users grant access to a server of a file, and the operator lists and revokes that', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-grants-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const vault = join(folder, 'vault')
  const audit = join(folder, 'audit.jsonl')
  await using issuer = await devIssuer()
  const server = new Server({ name: 'notes', version: '1.0.0' })
  server.tool('list', {}, (_, { caller }) => `the notes of ${caller.principal?.subject}`)
  await using upstream = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { verify: issuer.verifier() },
  })
  const file = {
    mcpServers: { notes: { url: upstream.address, auth: { user: {} } } },
    auth: { jwt: { issuer: issuer.issuer } },
    sealingKeys: [key],
    vault,
  }
  const plan = planOf(readConfig(JSON.stringify(file), { env: {} }), options)
  const grants = new ServerGrants(plan)
  const servers = grants.apply(plan.servers)
  // A reload of the same file does not reconnect.
  expect(grants.apply(plan.servers).notes?.auth).toBe(servers.notes?.auth)
  await using router = new Router({ servers })
  const address = 'http://127.0.0.1:0/mcp'
  const guard = await guardOptions(file.auth, address, () => {})
  await using listener = await listen(router, address, { ...guard, pages: grants.pages })
  const token = await issuer.token({ sub: 'ada', audience: listener.address })
  await using client = await connect(listener.address, { auth: bearer(token) })
  const link = linkOf((await client.call('notes__list')).text)
  const browser = new Browser()
  const page = await (await browser.open(link)).text()
  const approved = await browser.submit(link, page)
  await browser.open(await issuer.browser('ada')(locationOf(approved)))
  expect((await client.call('notes__list')).text).toBe('the notes of ada')

  const env = { TRUNKLINE_KEYS: key }
  const grantsOf = (...args: string[]) => ran(['grants', ...args, '--vault', vault], env)
  const listed = await grantsOf('list')
  expect(listed.stdout).toContain(`${issuer.issuer} ada at ${upstream.address}`)
  expect(JSON.parse((await grantsOf('list', '--json')).stdout).grants).toHaveLength(1)
  expect((await grantsOf('revoke')).code).toBe(2)
  const revoked = await grantsOf(
    'revoke',
    upstream.address,
    '--user',
    `${issuer.issuer} ada`,
    '--audit',
    audit,
  )
  expect(revoked.stdout).toBe(`revoked: ${issuer.issuer} ada at ${upstream.address}\n`)
  expect((await grantsOf('list')).stdout).toBe('')
  expect(JSON.parse(readFileSync(audit, 'utf8'))).toMatchObject({
    event: 'grant',
    outcome: 'revoked',
    principal: `${issuer.issuer} ada`,
    address: upstream.address,
    issuer: issuer.issuer,
  })
  await server.close()
})

test('a vault without keys is refused, because a restart would lose it', () => {
  const config = readConfig(JSON.stringify({ mcpServers: {}, vault: 'vault' }), { env: {} })
  expect(() => planOf(config, options)).toThrow('vault needs keys')
})

test('grants of a vault need its keys', async () => {
  expect(await ran(['grants', 'list', '--vault', 'x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--vault needs the keys of the router'),
  })
  expect((await ran(['grants', 'revoke', 'x'])).stderr).toContain('needs --vault')
  expect((await ran(['grants', 'lost'])).stderr).toContain('neither list nor revoke')
})

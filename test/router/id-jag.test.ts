import { describe, expect, test } from 'vitest'
import { bearer, oauth } from '../../src/auth/index.ts'
import { connect, listen, type RevisionName, Server } from '../../src/index.ts'
import type { AuditRecord } from '../../src/observe/index.ts'
import { Router } from '../../src/router/router.ts'
import { type DevIssuerOptions, devIssuer } from '../../src/testing/index.ts'

const client = { clientId: 'router', clientSecret: 'a secret of the router' }

/**
 * Starts a router of an enterprise: its callers log in at the identity provider, which vouches for them to the
 * authorization server of the server behind the router.
 */
async function enterprise(options: DevIssuerOptions = {}, revisions?: readonly RevisionName[]) {
  const users = [{ sub: 'ada', roles: ['admin'] }, { sub: 'bob' }]
  const idp = await devIssuer({ users, clients: [client] })
  const trusted = { identityProvider: idp, users, clients: [client] }
  const as = await devIssuer({ ...trusted, ...options })
  const server = new Server({ name: 'notes', version: '1.0.0' }, { revisions })
  server.tool('list', {}, (_, { caller: { principal } }) => {
    const { issuer, subject, scopes = [] } = principal ?? {}
    return `${subject} of ${issuer === as.issuer ? 'the server' : issuer}: ${scopes.join(' ')}`
  })
  const upstream = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { verify: as.verifier(), scopes: ['notes:read'] },
  })
  const records: AuditRecord[] = []
  const router = new Router({
    servers: {
      notes: {
        url: upstream.address,
        auth: { idJag: { idp: { issuer: idp.issuer, ...client }, issuer: as.issuer, ...client } },
      },
    },
    audit: { record: record => void records.push(record) },
    onError: () => {},
  })
  const listener = await listen(router, 'http://127.0.0.1:0/mcp', {
    auth: { verify: idp.verifier() },
  })
  return {
    idp,
    as,
    address: listener.address,
    exchanges: () => records.filter(({ event }) => event === 'exchange'),
    [Symbol.asyncDispose]: async () => {
      await listener.close()
      await router.close()
      await upstream.close()
      await server.close()
      await as.close()
      await idp.close()
    },
  }
}

describe.each(['2025-11-25', '2026-07-28'] as const)('a server of %s', revision => {
  test('sees each caller, for whom the identity provider of the enterprise vouches', async () => {
    await using here = await enterprise({}, [revision])
    const { address, idp, as } = here
    for (const sub of ['ada', 'bob']) {
      // Users log in once, at the identity provider. Nobody asks them for consent at the server.
      await using caller = await connect(address, { auth: oauth({ open: idp.browser(sub) }) })
      expect((await caller.call('notes__list')).text).toBe(`${sub} of the server: notes:read`)
      expect((await caller.call('notes__list')).text).toContain(sub)
    }
    const issued = { outcome: 'issued', method: 'id-jag', server: 'notes', issuer: as.issuer }
    expect(here.exchanges()).toMatchObject([
      { ...issued, principal: `${idp.issuer} ada` },
      { ...issued, principal: `${idp.issuer} bob` },
    ])
  })
})

test('an authorization server that does not trust the identity provider gives nothing', async () => {
  await using other = await devIssuer()
  await using here = await enterprise({ identityProvider: other })
  const token = await here.idp.token({ sub: 'ada', audience: here.address })
  await using ada = await connect(here.address, { auth: bearer(token) })
  await expect(ada.call('notes__list')).rejects.toThrow()
  const reason = expect.stringContaining('invalid_grant')
  expect(here.exchanges().at(-1)).toMatchObject({ outcome: 'failed', method: 'id-jag', reason })
})

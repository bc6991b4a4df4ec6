import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bearer, clientCredentials, exchange, jwt } from '../../src/auth/index.ts'
import { connect, listen, type RevisionName } from '../../src/index.ts'
import type { AuditRecord, AuditSink } from '../../src/observe/index.ts'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { Router } from '../../src/router/router.ts'
import {
  exchangingServer,
  guardedUpstream,
  longestLeak,
  routerResource,
} from '../support/acting.ts'

let as: Awaited<ReturnType<typeof exchangingServer>>
beforeEach(async () => {
  as = await exchangingServer()
})
afterEach(() => as.close())

const secret = { clientId: 'router', clientSecret: 'hush-hush' }
const eras: readonly (readonly [string, readonly RevisionName[]])[] = [
  ['a server with sessions', ['2025-11-25']],
  ['a stateless server', ['2026-07-28']],
]

/** Starts a router in front of one server, whose callers have tokens of the authorization server. */
async function routed(
  revisions: readonly RevisionName[],
  options: UpstreamOptions = {},
  audit?: AuditSink,
) {
  const upstream = await guardedUpstream(as, revisions)
  const errors: unknown[] = []
  const auth = exchange({ ...secret, issuer: as.origin })
  const router = new Router({
    servers: { it: { url: upstream.url, auth, prefix: false, ...options } },
    audit,
    onError: error => errors.push(error),
  })
  const verify = jwt({ issuer: as.origin, jwks: as.issuer.jwks })
  const listener = await listen(router, 'http://127.0.0.1:0/mcp', {
    auth: { resource: routerResource, verify },
  })
  return {
    upstream,
    router,
    errors,
    caller: async (sub: string, claims: object = {}, revision?: RevisionName) =>
      connect(listener.address, {
        auth: bearer(await as.tokenFor(sub, claims)),
        ...(revision && { revisions: [revision] }),
      }),
    [Symbol.asyncDispose]: async () => {
      await listener.close()
      await router.close()
      await upstream.close()
    },
  }
}

const namesOf = async (list: AsyncIterable<{ readonly name: string }>) => {
  const names: string[] = []
  for await (const { name } of list) names.push(name)
  return names
}

describe.each(eras)('%s', (_, revisions) => {
  test('sees each caller, and lists to each what is its own', async () => {
    await using here = await routed(revisions)
    await using ada = await here.caller('ada')
    await using bob = await here.caller('bob')
    for (const [client, name] of [
      [ada, 'ada'],
      [bob, 'bob'],
      [ada, 'ada'],
    ] as const) {
      expect((await client.call('whoami')).text).toBe(name)
      expect(await namesOf(client.tools())).toEqual(['whoami', `of-${name}`])
      expect((await client.call(`of-${name}`)).text).toBe(`the secret of ${name}`)
    }
    await expect(bob.call('of-ada')).rejects.toMatchObject({ code: -32602 })
    const exchanges = as.at('/token')
    expect(exchanges).toHaveLength(2)
    expect(here.router.tools()).toEqual([])
    expect(here.errors).toEqual([])
  })

  test('has its lists read with the credentials of the lister', async () => {
    const lister = clientCredentials({ ...secret, issuer: as.origin })
    await using here = await routed(revisions, { lister })
    await here.router.ready()
    await using ada = await here.caller('ada')
    expect(await namesOf(ada.tools())).toEqual(['whoami', 'of-the-router'])
    expect((await ada.call('whoami')).text).toBe('ada')
    // The lister is shown what the router may call; each call is the caller's own.
    await expect(ada.call('of-the-router')).rejects.toMatchObject({ code: -32602 })
  })

  test('gets no call with another credential if the exchange fails', async () => {
    const lister = clientCredentials({ ...secret, issuer: as.origin })
    await using here = await routed(revisions, { lister, breaker: { failures: 1 } })
    await here.router.ready()
    const issue = as.routes.get('/token')
    as.routes.set('/token', async request =>
      request.form.has('subject_token')
        ? { status: 400, body: { error: 'invalid_grant' } }
        : ((await issue?.(request)) ?? {}),
    )
    await using ada = await here.caller('ada')
    for (const _ of [1, 2]) {
      const failed = await ada.call('whoami').catch((error: unknown) => error)
      expect(failed).toMatchObject({ data: { server: 'it', kind: 'authorization_failed' } })
      expect(JSON.stringify(failed)).not.toMatch(/invalid_grant|hush|eyJ/)
    }
    expect(here.upstream.sessions).toEqual([])
    // The breaker is closed, because the server has not failed.
    expect(here.router.server('it')?.level).toBe('ok')
  })
})

test.each(eras)('%s never mixes principals, in any order of operations', async (_, revisions) => {
  await using here = await routed(revisions)
  const names = ['ada', 'bob', 'ada'] as const
  const callers = await Promise.all(
    names.map(async (name, at) => {
      const scope = at === 2 ? 'read' : 'read write'
      return { name, client: await here.caller(name, { scope }) }
    }),
  )
  for (const { name, client } of callers) expect((await client.call('whoami')).text).toBe(name)
  const step = fc.record({
    who: fc.nat({ max: callers.length - 1 }),
    what: fc.constantFrom('whoami', 'own', 'other', 'list'),
  })
  const run = async ({ who, what }: { who: number; what: string }): Promise<void> => {
    const caller = callers[who]
    if (caller === undefined) return
    const { name, client } = caller
    const other = name === 'ada' ? 'bob' : 'ada'
    if (what === 'whoami') expect((await client.call('whoami')).text).toBe(name)
    else if (what === 'own')
      expect((await client.call(`of-${name}`)).text).toBe(`the secret of ${name}`)
    else if (what === 'other') await expect(client.call(`of-${other}`)).rejects.toThrow()
    else expect(await namesOf(client.tools())).toEqual(['whoami', `of-${name}`])
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), steps =>
      Promise.all(steps.map(run)).then(() => {}),
    ),
    { numRuns: 20 },
  )
  // One exchange for each user, client and set of scopes.
  expect(as.at('/token')).toHaveLength(3)
  // Sessions are those of one principal.
  expect(here.upstream.owners.length > 0).toBe(revisions[0] === '2025-11-25')
  const owners = new Map<string, Set<string>>()
  for (const [session, owner] of here.upstream.owners)
    owners.set(session, new Set([...(owners.get(session) ?? []), owner]))
  expect([...owners.values()].every(those => those.size === 1)).toBe(true)
  await Promise.all(callers.map(({ client }) => client.close()))
})

test('a caller that is not authenticated gets nothing', async () => {
  const upstream = await guardedUpstream(as)
  const auth = exchange({ ...secret, issuer: as.origin })
  const lister = clientCredentials({ ...secret, issuer: as.origin })
  await using router = new Router({ servers: { it: { url: upstream.url, auth, lister } } })
  await using client = await connect(router)
  await router.ready()
  const failed = client.call('it__whoami')
  await expect(failed).rejects.toMatchObject({
    data: { server: 'it', kind: 'authorization_failed' },
  })
  expect(as.at('/token').filter(({ form }) => form.has('subject_token'))).toEqual([])
  await upstream.close()
})

test('credentials of callers need an HTTP address', () => {
  const auth = exchange({ ...secret, issuer: 'https://as.example' })
  const make = () => new Router({ servers: { it: { url: 'ws://127.0.0.1:9/', auth } } })
  expect(make).toThrow('need an HTTP address')
})

describe('the audit log', () => {
  test('has each exchange, also one that fails, and no token', async () => {
    const records: AuditRecord[] = []
    const audit = { record: (record: AuditRecord) => void records.push(record) }
    await using here = await routed(['2026-07-28'], {}, audit)
    await using ada = await here.caller('ada')
    for (let count = 0; count < 3; count++) await ada.call('whoami')
    const exchanges = () => records.filter(({ event }) => event === 'exchange')
    const ofAda = {
      event: 'exchange',
      method: 'token-exchange',
      outcome: 'issued',
      server: 'it',
      issuer: as.origin,
      principal: `${as.origin} ada`,
    }
    expect(exchanges()).toEqual([ofAda])
    as.routes.set('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }))
    await using bob = await here.caller('bob')
    await expect(bob.call('whoami')).rejects.toThrow()
    expect(exchanges().at(-1)).toMatchObject({
      outcome: 'failed',
      principal: `${as.origin} bob`,
      reason: expect.stringContaining('invalid_grant'),
    })
    const text = JSON.stringify(records)
    for (const token of as.issued) expect(longestLeak(token, text)).toBe(0)
    expect(text).not.toMatch(/eyJ/)
  })
})

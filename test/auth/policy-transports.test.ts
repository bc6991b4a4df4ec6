import { describe, expect, onTestFinished, test } from 'vitest'
import { bearer, jwt } from '../../src/auth/index.ts'
import type { Change } from '../../src/client/changes/changes.ts'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/connect.ts'
import type { RevisionName } from '../../src/index.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import { listen } from '../../src/listen.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import type { AuditRecord } from '../../src/observe/audit/record.ts'
import type { AccessPolicy, PolicyRule } from '../../src/router/access/policy.ts'
import { Router, type RouterOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { tokenIssuer } from '../support/issuer.ts'
import { until } from '../support/processes.ts'

const resource = 'https://tools.example.com/mcp'
const as = await tokenIssuer()
const tokens = {
  reader: await as.token(),
  writer: await as.token({ claims: { sub: 'wim', scope: 'notes:write' } }),
  admin: await as.token({ claims: { sub: 'ann', roles: ['admin'] } }),
}
type Role = keyof typeof tokens

const policy: AccessPolicy = {
  default: 'deny',
  rules: [
    { name: 'reading', allow: ['notes__list'], prompts: ['notes__ask'], resources: ['notes://1'] },
    { name: 'writing', who: { scopes: ['notes:write'] }, allow: ['notes__*'] },
    { name: 'all', who: { roles: ['admin'] }, allow: ['*'], prompts: ['*'], resources: ['*'] },
    { name: 'no deletion', deny: ['*__delete_*'], unless: { roles: ['admin'] } },
    {
      name: 'own orders',
      allow: ['orders__of'],
      when: { argument: 'user', is: { claim: 'sub' } },
    },
  ],
}

function notesServer(): Server {
  const server = new Server({ name: 'notes', version: '1' })
  for (const name of ['list', 'add', 'delete_all']) server.tool(name, {}, () => `${name} done`)
  server.prompt('ask', {}, () => 'asked')
  server.prompt('order', {}, () => 'ordered')
  for (const name of ['1', 'last', 'secret'])
    server.resource(name, `notes://${name}`, {}, () => name)
  return server
}

const input = { type: 'object', properties: { user: { type: 'string' } } } as const
const orders = new Server({ name: 'orders', version: '1' })
orders.tool('of', { input }, ({ user }) => `orders of ${user}`)

/** An endpoint whose connections a test can cut. */
function cuttable(server: Server) {
  const channels: Channel[] = []
  const endpoint: Endpoint = {
    profile: server.profile,
    revisions: server.revisions,
    handle: server.handle,
    attach: (channel, envelope) => {
      channels.push(channel)
      return server.attach(channel, envelope)
    },
  }
  return { endpoint, channels }
}

type Transport = 'http' | 'ws' | 'tcp'
const transports = ['http', 'ws', 'tcp'] as const
const revisions: readonly RevisionName[] = ['2025-11-25', '2026-07-28']
const cells = transports.flatMap(one => revisions.map(revision => [one, revision] as const))

/** Starts a router with the policy, at an address of one transport, for as long as the test lasts. */
async function guarded(transport: Transport, options: RouterOptions = {}) {
  const notes = notesServer()
  const records: AuditRecord[] = []
  const router = new Router({
    servers: { notes, orders },
    policy,
    audit: { record: record => void records.push(record) },
    onError: () => {},
    ...options,
  })
  await router.ready()
  const path = transport === 'tcp' ? '' : '/mcp'
  const listener = await listen(router, `${transport}://127.0.0.1:0${path}`, {
    auth: { resource, verify: jwt({ issuer: as.issuer, jwks: as.jwks, rolesFrom: 'roles' }) },
  })
  onTestFinished(async () => {
    await listener.close()
    await router.close({ drainMs: 0 })
    await notes.close()
  })
  const caller = async (role: Role, revision: RevisionName): Promise<Client> => {
    const auth = bearer(tokens[role])
    const client = await connect(listener.address, { auth, revisions: [revision] })
    onTestFinished(() => client.close())
    return client
  }
  return { notes, router, records, caller }
}

async function namesOf(list: AsyncIterable<{ readonly name: string }>): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { name } of list) names.push(name)
  return names
}

/** The changes that a client receives, for as long as the test lasts. */
function changesOf(client: Client, filter: Parameters<Client['changes']>[0]): readonly Change[] {
  return follow(client, filter).seen
}

/** The same, once the subscription is confirmed. */
async function confirmedChangesOf(
  client: Client,
  filter: Parameters<Client['changes']>[0],
): Promise<readonly Change[]> {
  const { seen, changes } = follow(client, filter)
  await changes.ready
  return seen
}

function follow(client: Client, filter: Parameters<Client['changes']>[0]) {
  const seen: Change[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const changes = client.changes(filter, { signal: stop.signal })
  const read = async (): Promise<void> => {
    for await (const change of changes) seen.push(change)
  }
  read().catch(() => {})
  return { seen, changes }
}

/** Resolves when everything that the router has sent a client before has arrived. */
const answered = (client: Client) => client.call('notes__none').catch(() => {})

const hasList = (seen: readonly Change[], type: string) => seen.some(one => one.type === type)
const urisOf = (seen: readonly Change[]) =>
  seen.flatMap(one => (one.type === 'resource' ? [one.uri] : []))

describe.each(cells)('a policy over %s in %s', (transport, revision) => {
  test('decides about lists and requests', async () => {
    const { caller, records } = await guarded(transport)
    const reader = await caller('reader', revision)
    const seen = ['notes__list', 'notes__add', 'orders__of']
    expect(await namesOf(reader.tools())).toEqual(seen)
    expect(await namesOf(reader.prompts())).toEqual(['notes__ask'])
    expect(await namesOf(reader.resources())).toEqual(['1'])
    expect((await reader.call('notes__list')).text).toBe('list done')
    await expect(reader.call('notes__add')).rejects.toThrow('notes:write')
    await expect(reader.call('notes__delete_all')).rejects.toMatchObject({ kind: 'tool_not_found' })
    await expect(reader.prompt('notes__order')).rejects.toMatchObject({ code: -32602 })
    expect((await reader.read('notes://1')).contents).toHaveLength(1)
    await expect(reader.read('notes://secret')).rejects.toMatchObject({
      kind: 'resource_not_found',
    })
    expect((await reader.call('orders__of', { user: 'ada' })).text).toBe('orders of ada')
    await expect(reader.call('orders__of', { user: 'ann' })).rejects.toMatchObject({
      kind: 'access_denied',
    })
    expect(records.map(({ outcome }) => outcome)).toEqual([
      'allowed',
      'challenged',
      'hidden',
      'hidden',
      'allowed',
      'hidden',
      'allowed',
      'refused',
    ])
    const writer = await caller('writer', revision)
    expect((await writer.call('notes__add')).text).toBe('add done')
    await expect(writer.call('notes__delete_all')).rejects.toMatchObject({ kind: 'tool_not_found' })
    const admin = await caller('admin', revision)
    expect((await admin.call('notes__delete_all')).text).toBe('delete_all done')
  })

  test('lets the search for tools find and call only what is allowed', async () => {
    const { caller } = await guarded(transport, { toolSearch: {} })
    const found = async (client: Client, query: string): Promise<readonly string[]> => {
      const { text } = await client.call('search_tools', { query, limit: 20 })
      return Array.from(text.matchAll(/"name":"(notes__\w+)"/g), ([, name = '']) => name)
    }
    const [reader, admin] = [await caller('reader', revision), await caller('admin', revision)]
    expect(await found(admin, 'delete all')).toContain('notes__delete_all')
    expect(await found(reader, 'delete all')).not.toContain('notes__delete_all')
    expect(await found(reader, 'list')).toContain('notes__list')
    const call = (client: Client, name: string) => client.call('call_tool', { name, arguments: {} })
    expect((await call(reader, 'notes__list')).text).toBe('list done')
    expect((await call(admin, 'notes__delete_all')).text).toBe('delete_all done')
    await expect(call(reader, 'notes__delete_all')).rejects.toMatchObject({
      kind: 'tool_not_found',
    })
    await expect(call(reader, 'notes__add')).rejects.toThrow('notes:write')
  })

  test('that is replaced takes effect on open connections, and reports the lists', async () => {
    const { caller, router } = await guarded(transport)
    const reader = await caller('reader', revision)
    const seen = changesOf(reader, { tools: true, prompts: true, resources: true })
    const closed: AccessPolicy = { default: 'deny', rules: [] }
    // An earlier change is lost if the subscription has not been confirmed yet.
    await until(() => {
      router.setPolicy(closed)
      return ['tools', 'prompts', 'resources'].every(type => hasList(seen, type))
    })
    expect(await namesOf(reader.tools())).toEqual([])
    expect(await namesOf(reader.prompts())).toEqual([])
    expect(await namesOf(reader.resources())).toEqual([])
    await expect(reader.call('notes__list')).rejects.toMatchObject({ kind: 'tool_not_found' })
    router.setPolicy(undefined)
    expect((await reader.call('notes__delete_all')).text).toBe('delete_all done')
  })

  test('lets nobody get updates of a resource that it may not read', async () => {
    const last: PolicyRule = { name: 'last', allow: ['notes__list'], resources: ['notes://last'] }
    const { caller, notes, router } = await guarded(transport, {
      policy: { ...policy, rules: [...policy.rules, last] },
    })
    const [reader, admin] = [await caller('reader', revision), await caller('admin', revision)]
    // In a session each resource is subscribed to by itself, and the second one is refused.
    const hidden = changesOf(reader, { resources: ['notes://secret'] })
    const own = await confirmedChangesOf(reader, { resources: ['notes://1', 'notes://last'] })
    const all = ['notes://1', 'notes://secret', 'notes://last']
    const theirs = await confirmedChangesOf(admin, { resources: all })
    const update = (uris: readonly string[]) => {
      for (const uri of uris) notes.updated(uri)
    }
    // Updates arrive in order, so the last one shows what was sent before it.
    update(all)
    await until(() => urisOf(own).length === 2 && urisOf(theirs).length === 3)
    expect(urisOf(theirs)).toEqual(all)
    expect(urisOf(own)).toEqual(['notes://1', 'notes://last'])
    // The subscription was allowed, and the resource no longer is.
    router.setPolicy({ ...policy, rules: [...policy.rules.slice(1), last] })
    update(['notes://1', 'notes://last'])
    await until(() => urisOf(own).length > 2)
    expect(urisOf(own)).toEqual(['notes://1', 'notes://last', 'notes://last'])
    expect(urisOf(hidden)).not.toContain('notes://secret')
  })
})

test.each(revisions)(
  'a server that is connected again causes no update of what a caller may no longer read, in %s',
  async revision => {
    const notes = notesServer()
    let subscriptions = 0
    notes.on('subscribe', () => subscriptions++)
    const { endpoint, channels } = cuttable(notes)
    const { caller, router } = await guarded('ws', {
      servers: { notes: { server: endpoint, restart: { minMs: 1, maxMs: 5 } } },
    })
    const [reader, admin] = [await caller('reader', revision), await caller('admin', revision)]
    const own = changesOf(reader, { resources: ['notes://1'] })
    const theirs = changesOf(admin, { resources: ['notes://1'] })
    const rules = policy.rules.filter(({ name }) => name !== 'reading')
    /** Cuts the connection to the server, and waits until the router has subscribed again. */
    const reconnect = async () => {
      const before = subscriptions
      await channels.at(-1)?.close()
      await until(() => subscriptions > before)
      for (const client of [reader, admin]) await answered(client)
    }
    // Updates may have been missed meanwhile, so all that watch the resource get one.
    while (own.length === 0 || theirs.length === 0) await reconnect()
    router.setPolicy({ ...policy, rules })
    await answered(reader)
    const [before, others] = [own.length, theirs.length]
    while (theirs.length === others) await reconnect()
    await answered(reader)
    expect(own.length).toBe(before)
  },
)

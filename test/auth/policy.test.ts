import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { apiKeys, bearer, jwt, newApiKey } from '../../src/auth/index.ts'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import type { AuditRecord, CallAudit } from '../../src/observe/audit/record.ts'
import type { AccessPolicy, PolicyRule } from '../../src/router/access/policy.ts'
import { Router } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { Random } from '../fuzz/random.ts'
import { calling, latest, opening, speaking } from '../http/requests.ts'
import { tokenIssuer } from '../support/issuer.ts'

const resource = 'https://tools.example.com/mcp'
const as = await tokenIssuer()
const region = { type: 'object', properties: { region: { type: 'string' } } } as const

const notes = new Server({ name: 'notes', version: '1' })
for (const name of ['list', 'add', 'delete_all']) notes.tool(name, {}, () => `${name} done`)
notes.tool('slow', { task: 'optional' }, () => 'slow done')
notes.prompt('ask', {}, () => 'asked')
notes.prompt('order', {}, () => 'ordered')
for (const name of ['1', 'secret']) {
  const cache = { ttlMs: 1000, cacheScope: 'public' } as const
  notes.resource(name, `notes://${name}`, { cache }, () => name)
}
notes.resourceTemplate('text', 'notes://{id}/text', {}, () => 'text')
const orders = new Server({ name: 'orders', version: '1' })
orders.tool('get', { input: region }, ({ region: where }) => `orders of ${where}`)

const policy: AccessPolicy = {
  default: 'deny',
  rules: [
    { name: 'reading', allow: ['notes__list'], prompts: ['notes__ask'], resources: ['notes://1'] },
    { name: 'writing', who: { scopes: ['notes:write'] }, allow: ['notes__*'] },
    { name: 'all', who: { roles: ['admin'] }, allow: ['*'], prompts: ['*'], resources: ['*'] },
    { name: 'no deletion', deny: ['*__delete_*'], unless: { roles: ['admin'] } },
    {
      name: 'own region',
      who: { clients: ['app-*'] },
      allow: ['orders__get'],
      when: { argument: 'region', is: { claim: 'region' } },
    },
  ],
}

const records: AuditRecord[] = []
const router = new Router({
  servers: { notes, orders },
  policy,
  limits: { perCaller: { perSecond: 0.001, burst: 1000 } },
  audit: { record: record => void records.push(record) },
  onError: () => {},
})
await router.ready()
const listener = await listen(router, 'http://127.0.0.1:0/mcp', {
  auth: { resource, verify: jwt({ issuer: as.issuer, jwks: as.jwks, rolesFrom: 'roles' }) },
})
afterAll(async () => {
  await listener.close()
  await router.close()
})
beforeEach(() => {
  records.length = 0
  router.setPolicy(policy)
})

const reader = await as.token()
const writer = await as.token({ claims: { sub: 'wim', scope: 'notes:write' } })
const admin = await as.token({ claims: { sub: 'ann', roles: ['admin'] } })
const app = await as.token({ claims: { sub: 'bob', client_id: 'app-1', region: 'eu' } })
const odd = await as.token({ claims: { sub: 'odd', client_id: 'app-1', region: { is: 'eu' } } })

interface Answer {
  readonly status: number
  readonly challenge: string | null
  // biome-ignore lint/suspicious/noExplicitAny: the body of a response, of which tests look at any member
  readonly json: any
}

async function post(
  token: string,
  asked: ReturnType<typeof speaking>,
): Promise<Answer & { session: string }> {
  const given = Object.entries(asked.headers ?? {}).filter(([, value]) => value !== undefined)
  const response = await fetch(listener.address, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      // The check: undefined values are left out above.
      ...(Object.fromEntries(given) as Record<string, string>),
    },
    body: asked.body as string,
  })
  const text = await response.text()
  const data = text.startsWith('{')
    ? text
    : text
        .split('\n')
        .find(line => line.startsWith('data: {'))
        ?.slice(6)
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    session: response.headers.get('mcp-session-id') ?? '',
    json: data === undefined ? undefined : JSON.parse(data),
  }
}

type Ask = (token: string, method: string, params?: object) => Promise<Answer>

const stateless: Ask = (token, method, params) => post(token, speaking(method, params))
const inSession: Ask = async (token, method, params = {}) => {
  const { session } = await post(token, opening(latest))
  const headers = { 'mcp-session-id': session, accept: 'application/json' }
  const body = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message })
  await post(token, { headers, body: body({ method: 'notifications/initialized' }) })
  return post(token, { headers, body: body({ id: 1, method, params }) })
}

describe.each([
  ['stateless', stateless],
  ['in a session', inSession],
])('a policy, %s', (_, ask) => {
  const names = async (token: string, method: string, list: string): Promise<readonly string[]> => {
    const { json } = await ask(token, method)
    return json.result[list].map((one: Record<string, string>) => one.name)
  }
  const call = (token: string, name: string, args: object = {}) =>
    ask(token, 'tools/call', { name, arguments: args })

  test('lists what a caller may use, or could with more scopes', async () => {
    const tools = ['notes__list', 'notes__add', 'notes__slow']
    expect(await names(reader, 'tools/list', 'tools')).toEqual(tools)
    expect(await names(app, 'tools/list', 'tools')).toEqual([...tools, 'orders__get'])
    // The claim has another type, so the rule never holds.
    expect(await names(odd, 'tools/list', 'tools')).toEqual(tools)
    expect(await names(admin, 'tools/list', 'tools')).toHaveLength(5)
    expect(await names(reader, 'prompts/list', 'prompts')).toEqual(['notes__ask'])
    expect(await names(reader, 'resources/list', 'resources')).toEqual(['1'])
    expect(await names(reader, 'resources/templates/list', 'resourceTemplates')).toEqual([])
    expect(await names(admin, 'resources/templates/list', 'resourceTemplates')).toEqual(['text'])
  })

  test('allows, challenges and hides calls', async () => {
    expect((await call(reader, 'notes__list')).json.result.content[0].text).toBe('list done')
    const challenged = await call(reader, 'notes__add')
    expect(challenged.status).toBe(403)
    expect(challenged.challenge).toContain('error="insufficient_scope", scope="notes:write"')
    expect(challenged.json.error.data.kind).toBe('insufficient_permissions')
    expect((await call(writer, 'notes__add')).status).toBe(200)
    const hidden = await call(writer, 'notes__delete_all')
    const unknown = await call(writer, 'notes__delete_none')
    expect(hidden.status).toBe(200)
    const text = (answer: Answer) => JSON.stringify(answer.json.error).replaceAll(/_all|_none/g, '')
    expect(text(hidden)).toBe(text(unknown))
    expect((await call(admin, 'notes__delete_all')).json.result.isError).not.toBe(true)
  })

  test('compares arguments with claims', async () => {
    const eu = await call(app, 'orders__get', { region: 'eu' })
    expect(eu.json.result.content[0].text).toBe('orders of eu')
    const refused = await call(app, 'orders__get', { region: 'us' })
    expect(refused.json.error.message).toContain('with these arguments')
    expect((await call(odd, 'orders__get', { region: 'eu' })).json.error.code).toBe(-32602)
    expect(records.map(record => record.outcome)).toEqual(['allowed', 'refused', 'hidden'])
  })

  test('decides about prompts, resources and completion', async () => {
    const prompt = (name: string) => ask(reader, 'prompts/get', { name })
    expect((await prompt('notes__ask')).json.result.messages).toHaveLength(1)
    expect((await prompt('notes__order')).json.error.code).toBe(-32602)
    const read = (token: string, uri: string) => ask(token, 'resources/read', { uri })
    expect((await read(reader, 'notes://1')).json.result.contents[0].text).toBe('1')
    const hidden = await read(reader, 'notes://secret')
    const unknown = await read(reader, 'notes://secrex')
    expect(hidden.json.error.code).toBe(unknown.json.error.code)
    // A template that the caller does not see finds nothing either.
    expect((await read(reader, 'notes://7/text')).json.error.code).toBe(hidden.json.error.code)
    expect((await read(admin, 'notes://7/text')).json.result.contents[0].text).toBe('text')
    const complete = (ref: object) =>
      ask(reader, 'completion/complete', { ref, argument: { name: 'id', value: '' } })
    const template = { type: 'ref/resource', uri: 'notes://{id}/text' }
    expect((await complete(template)).json.error).toBeDefined()
    expect((await complete({ type: 'ref/prompt', name: 'notes__order' })).json.error).toBeDefined()
    expect((await complete({ type: 'ref/prompt', name: 'notes__ask' })).json.result).toBeDefined()
  })

  test('records every decision, and nothing of tokens and arguments', async () => {
    await call(reader, 'notes__list', { word: 'canary' })
    await call(reader, 'notes__add')
    await call(reader, 'notes__delete_all')
    const made = records.map(record => record as CallAudit)
    expect(made.map(({ outcome, rule }) => [outcome, rule])).toEqual([
      ['allowed', 'reading'],
      ['challenged', 'writing'],
      ['hidden', 'no deletion'],
    ])
    expect(made[0]).toMatchObject({
      event: 'call',
      method: 'tools/call',
      name: 'notes__list',
      upstream: 'list',
      server: 'notes',
      principal: `${as.issuer} ada`,
    })
    expect(JSON.stringify(records)).not.toContain('canary')
    expect(JSON.stringify(records)).not.toContain(reader.slice(-20))
  })

  test('takes effect at once when it is replaced', async () => {
    expect((await call(reader, 'notes__list')).json.result).toBeDefined()
    router.setPolicy({ default: 'deny', rules: [] })
    expect((await call(reader, 'notes__list')).json.error.code).toBe(-32602)
    expect(await names(admin, 'tools/list', 'tools')).toEqual([])
    // The check: that it is invalid is what is tested.
    expect(() => router.setPolicy({ rules: [{}] } as unknown as AccessPolicy)).toThrow('a name')
    expect(await names(admin, 'tools/list', 'tools')).toEqual([])
    router.setPolicy(undefined)
    expect(await names(reader, 'tools/list', 'tools')).toHaveLength(5)
  })
})

test('what a policy lets a caller read is never for shared caches', async () => {
  expect((await stateless(reader, 'tools/list')).json.result.cacheScope).toBe('private')
  const read = await stateless(reader, 'resources/read', { uri: 'notes://1' })
  expect(read.json.result).toMatchObject({ ttlMs: 1000, cacheScope: 'private' })
})

test('a task needs what its tool needs, at every request', async () => {
  const { session } = await post(writer, opening(latest))
  const send = (token: string, method: string, params: object) =>
    post(token, {
      headers: { 'mcp-session-id': session, accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
  const begun = await send(writer, 'tools/call', {
    name: 'notes__slow',
    arguments: {},
    task: { ttl: 60_000 },
  })
  const { taskId } = begun.json.result.task
  expect((await send(writer, 'tasks/result', { taskId })).json.result.content[0].text).toBe(
    'slow done',
  )
  const lesser = await as.token({ claims: { sub: 'wim' } })
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
    expect((await send(lesser, method, { taskId })).status).toBe(403)
  }
  expect((await send(lesser, 'tasks/list', {})).json.result.tasks).toEqual([])
  router.setPolicy({ rules: [{ name: 'none', deny: ['notes__slow'] }] })
  expect((await send(writer, 'tasks/get', { taskId })).json.error.code).toBe(-32602)
  router.setPolicy(policy)
  expect((await send(writer, 'tasks/list', {})).json.result.tasks).toHaveLength(1)
})

test('applies to callers without a principal on every transport', async () => {
  const client = await connect(router, {})
  onTestFinished(() => client.close())
  const seen: string[] = []
  for await (const { name } of client.tools()) seen.push(name)
  expect(seen).toEqual(['notes__list', 'notes__add', 'notes__slow'])
  await expect(client.call('notes__add')).rejects.toMatchObject({
    kind: 'insufficient_permissions',
  })
  await expect(client.call('orders__get')).rejects.toMatchObject({ kind: 'tool_not_found' })
})

test('limits per caller count principals, and anonymous callers together', async () => {
  const limited = new Router({
    servers: { notes },
    limits: { perCaller: { perSecond: 0.001, burst: 2 } },
    audit: { record: record => void records.push(record) },
    onError: () => {},
  })
  await limited.ready()
  const guarded = await listen(limited, 'http://127.0.0.1:0/mcp', {
    auth: {
      resource,
      verify: jwt({ issuer: as.issuer, jwks: as.jwks }),
      anonymous: { methods: ['tools/call'] },
    },
  })
  onTestFinished(async () => {
    await guarded.close()
    await limited.close()
  })
  const outcome = async (token?: string): Promise<string> => {
    const { headers = {}, body } = calling('notes__list')
    const response = await fetch(guarded.address, {
      method: 'POST',
      headers: {
        ...(headers as Record<string, string>),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: body as string,
    })
    return (await response.text()).includes('"kind":"rate_limited"') ? 'limited' : 'allowed'
  }
  const again = await as.token({ claims: { jti: 'another token of ada' } })
  expect([await outcome(reader), await outcome(again), await outcome(again)]).toEqual([
    'allowed',
    'allowed',
    'limited',
  ])
  expect(await outcome(writer)).toBe('allowed')
  expect([await outcome(), await outcome(), await outcome()]).toEqual([
    'allowed',
    'allowed',
    'limited',
  ])
  const limits = records.filter(record => record.outcome === 'limited')
  expect(limits).toMatchObject([
    {
      name: 'notes__list',
      upstream: 'list',
      principal: `${as.issuer} ada`,
      reason: 'limit caller',
    },
    { name: 'notes__list', principal: undefined, reason: 'limit caller' },
  ])
})

test('the audit log names the API key of a caller, and nothing of its secret', async () => {
  const audited = new Router({
    servers: { notes },
    audit: { record: record => void records.push(record) },
  })
  const { key, record } = await newApiKey('ci')
  const guarded = await listen(audited, 'http://127.0.0.1:0/mcp', {
    auth: { verify: apiKeys({ keys: [record] }) },
  })
  onTestFinished(async () => {
    await guarded.close()
    await audited.close()
  })
  await using client = await connect(guarded.address, { auth: bearer(key) })
  await client.call('notes__list')
  expect(records).toMatchObject([{ event: 'call', principal: 'key:ci', key: record.id }])
  expect(JSON.stringify(records)).not.toContain(key.slice(13))
})

test('lists and calls agree, whatever the policy says', async () => {
  const random = new Random(7)
  const pick = <T>(...from: readonly T[]): T => from[random.int(from.length)] as T
  const patterns = ['*', 'notes__*', 'notes__add', '*_all', 'orders__*', 'n*l*']
  const conditions = [
    {},
    { scopes: ['notes:write'] },
    { roles: ['admin'] },
    { claims: { region: ['e*'] } },
    { clients: ['app-*'], scopes: ['x'] },
    { anonymous: false },
  ]
  const ruleOf = (at: number): PolicyRule => ({
    name: `${at}`,
    who: pick(...conditions),
    ...(random.once(3)
      ? { deny: [pick(...patterns)], ...(random.once(2) && { unless: pick(...conditions) }) }
      : { allow: [pick(...patterns)] }),
    ...(random.once(4) && { server: pick('notes', 'o*') }),
  })
  const all = ['notes__list', 'notes__add', 'notes__delete_all', 'notes__slow', 'orders__get']
  for (let round = 0; round < 25; round++) {
    const rules = Array.from({ length: 1 + random.int(6) }, (_, at) => ruleOf(at))
    router.setPolicy({ default: pick('allow', 'deny'), rules })
    const token = pick(reader, writer, admin, app, odd)
    const listed = (await stateless(token, 'tools/list')).json.result.tools
    const seen = new Set(listed.map((one: { readonly name: string }) => one.name))
    for (const name of all) {
      const { status, json } = await stateless(token, 'tools/call', { name, arguments: {} })
      const isFound = status === 403 || json.error?.data?.kind !== 'tool_not_found'
      expect([name, isFound], JSON.stringify(rules)).toEqual([name, seen.has(name)])
    }
  }
})

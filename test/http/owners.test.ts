import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Server } from '../../src/server/server.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { deferred } from '../../src/util/promises.ts'
import { type Person, serveKnown } from './principals.ts'
import { calling, inSession, latest, speaking } from './requests.ts'

const tasks = {
  'io.modelcontextprotocol/clientCapabilities': {
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
}
const asker = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
const form = { type: 'object', properties: { ok: { type: 'boolean' } } } as const

/** `slow` runs as a task until it is released; `ask` and `other` elicit input before they return. */
function make(options: { readonly keys?: readonly Uint8Array[] } = {}) {
  const server = new Server({ name: 'owned', version: '1' }, { onError: () => {}, ...options })
  const held = deferred<void>()
  const ran: string[] = []
  server.tool('slow', { task: 'optional' }, async (_, ctx) => {
    ran.push(ctx.caller.principal?.id ?? 'anonymous')
    await Promise.race([held.promise, aborted(ctx.signal)])
    return 'secret of its owner'
  })
  for (const name of ['ask', 'other']) {
    server.tool(name, { input: { type: 'object' } }, async (_, ctx) => {
      const { ok } = (await ctx.elicit({ message: 'Sure?', schema: form })) as { ok: boolean }
      return `${name} ${ok} for ${ctx.caller.principal?.id}`
    })
  }
  server.prompt('ask', {}, () => 'x')
  onTestFinished(() => held.resolve())
  return { server, held, ran }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => signal.addEventListener('abort', () => resolve()))
}

/** Returns the status and the error of a response, with the task id masked. */
function outcome({ status, json }: { status: number; json: { error?: object } }, taskId: string) {
  return [status, JSON.stringify(json.error).replaceAll(taskId, '…')]
}

describe('SEC-15: a task of a principal', () => {
  const methods = ['tasks/get', 'tasks/update', 'tasks/cancel'] as const

  test('is not visible to others, in stateless requests: no method distinguishes it from an unknown one', async () => {
    const { server, ran } = make()
    const as = await serveKnown(server)
    const ada = as('ada')
    const begun = await ada.ask(calling('slow', {}, { meta: tasks }))
    const { taskId } = begun.json.result
    const never = 'f'.repeat(taskId.length)
    for (const other of [as('bob'), as(), as('ADA')]) {
      for (const method of methods) {
        const params = (id: string) => ({ taskId: id, inputResponses: {} })
        const foreign = await other.ask(speaking(method, params(taskId), { meta: tasks }))
        const unknown = await other.ask(speaking(method, params(never), { meta: tasks }))
        expect(foreign.json.error).toMatchObject({ code: -32602, message: 'Task not found' })
        expect(outcome(foreign, taskId)).toEqual(outcome(unknown, never))
      }
    }
    const mine = await ada.ask(speaking('tasks/get', { taskId }, { meta: tasks }))
    expect(mine.json.result.status).toBe('working')
    expect(ran).toEqual(['ada'])
  })

  test('is not visible to others, in sessions', async () => {
    const { server, held } = make()
    const as = await serveKnown(server)
    const ada = as('ada')
    const hers = await ada.session()
    const call = { name: 'slow', arguments: {}, task: { ttl: 60_000 } }
    const begun = await ada.ask(inSession(hers, 'tools/call', call, 1))
    const { taskId } = begun.json.result.task
    const never = 'f'.repeat(taskId.length)
    for (const other of [as('bob'), as()]) {
      const session = await other.session()
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        const foreign = await other.ask(inSession(session, method, { taskId }, 2))
        const unknown = await other.ask(inSession(session, method, { taskId: never }, 2))
        expect(foreign.json.error).toMatchObject({ code: -32602 })
        expect(outcome(foreign, taskId)).toEqual(outcome(unknown, never))
      }
      const listed = await other.ask(inSession(session, 'tasks/list', {}, 3))
      expect(listed.json.result.tasks).toEqual([])
    }
    const again = await ada.session()
    const listed = await ada.ask(inSession(again, 'tasks/list', {}, 4))
    expect(listed.json.result.tasks).toMatchObject([{ taskId, status: 'working' }])
    held.resolve()
    const result = await ada.ask(inSession(again, 'tasks/result', { taskId }, 5))
    expect(JSON.stringify([result.json, result.events])).toContain('secret of its owner')
  })

  test('is not accessible through the other era', async () => {
    const { server } = make()
    const as = await serveKnown(server)
    const begun = await as('ada').ask(calling('slow', {}, { meta: tasks }))
    const { taskId } = begun.json.result
    const bob = as('bob')
    const session = await bob.session()
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const { json } = await bob.ask(inSession(session, method, { taskId }, 1))
      expect(json.error.code).toBe(-32602)
    }
  })

  test('is reported to its owner alone', async () => {
    const { server, held } = make()
    const as = await serveKnown(server)
    const begun = await as('ada').ask(calling('slow', {}, { meta: tasks }))
    const { taskId } = begun.json.result
    const received: string[][] = []
    for (const name of ['ada', 'bob']) {
      const asked = speaking(
        'subscriptions/listen',
        { notifications: { taskIds: [taskId] } },
        { meta: tasks },
      )
      const wire = await as(name).open(asked)
      await wire.begin()
      received.push([(await wire.event()) ?? ''])
      if (name === 'ada') received[0]?.push((await wire.event()) ?? '')
      wire.cut()
    }
    held.resolve()
    expect(received[0]?.join()).toContain(taskId)
    expect(received[1]?.join()).not.toContain(taskId)
  })
})

describe('SEC-15: the list of tasks', () => {
  test('does not exist without sessions', async () => {
    const { server } = make()
    const as = await serveKnown(server)
    await as().ask(calling('slow', {}, { meta: tasks }))
    await as('ada').ask(calling('slow', {}, { meta: tasks }))
    for (const one of [as(), as('ada'), as('bob')]) {
      const { status, json } = await one.ask(speaking('tasks/list', {}, { meta: tasks }))
      expect([status, json.error.code]).toEqual([404, -32601])
    }
  })

  test('contains for an anonymous caller only the tasks of its own session', async () => {
    const { server } = make()
    const as = await serveKnown(server, { sessionless: true })
    const anonymous = as()
    const [one, other] = [await anonymous.session(), await anonymous.session()]
    const call = { name: 'slow', arguments: {}, task: {} }
    await anonymous.ask(inSession(one, 'tools/call', call, 1))
    const list = async (session: string): Promise<unknown[]> =>
      (await anonymous.ask(inSession(session, 'tasks/list', {}, 2))).json.result.tasks
    expect(await list(one)).toHaveLength(1)
    expect(await list(other)).toEqual([])
    const headers = { 'mcp-protocol-version': latest }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tasks/list' })
    const bare = await anonymous.ask({ headers, body })
    expect(bare.text).not.toContain('taskId')
  })
})

describe('SEC-14: a session of a principal', () => {
  test('is not visible to others, whatever they send, and theirs are not affected', async () => {
    const { server } = make()
    const as = await serveKnown(server)
    const ada = as('ada')
    const id = await ada.session()
    const stream = await ada.open({ method: 'GET', headers: { 'mcp-session-id': id } })
    expect((await stream.begin()).status).toBe(200)
    for (const other of [as('bob'), as()]) {
      const never = 'f'.repeat(id.length)
      const doors = (session: string) => [
        inSession(session, 'tools/list', {}, 1),
        inSession(session, 'notifications/cancelled', { requestId: 1 }),
        { method: 'GET', headers: { 'mcp-session-id': session } },
        { method: 'DELETE', headers: { 'mcp-session-id': session } },
      ]
      for (const [i, door] of doors(id).entries()) {
        const foreign = await other.ask(door)
        const unknown = await other.ask(doors(never)[i] ?? {})
        expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
      }
    }
    expect((await ada.ask(inSession(id, 'tools/list', {}, 1))).status).toBe(200)
    stream.cut()
  })
})

describe('SEC-40: request state that a client keeps for the server', () => {
  const good = { '0': { action: 'accept', content: { ok: true } } }

  /** Runs the first round; returns its state, the input responses, and a function that builds the retry. */
  async function firstRound(one: Person) {
    const { json } = await one.ask(calling('ask', { n: 1 }, { meta: asker }))
    const { requestState, inputRequests } = json.result
    const [key = ''] = Object.keys(inputRequests)
    const inputResponses = { [key]: good['0'] }
    const retry = (changed: object = {}) =>
      speaking(
        'tools/call',
        { name: 'ask', arguments: { n: 1 }, requestState, inputResponses, ...changed },
        { meta: asker },
      )
    return { requestState: requestState as string, inputResponses, retry }
  }

  const refused = async (one: Person, asking: Parameters<Person['ask']>[0], why: string) => {
    const { json } = await one.ask(asking)
    expect(json.error).toMatchObject({
      code: -32602,
      data: { details: `requestState is ${why}` },
    })
  }

  test('is valid only for its owner, its method and its arguments', async () => {
    const as = await serveKnown(make().server)
    const ada = as('ada')
    const { retry, requestState, inputResponses } = await firstRound(ada)
    await refused(as('bob'), retry(), 'foreign')
    await refused(as(), retry(), 'foreign')
    await refused(ada, retry({ arguments: { n: 2 } }), 'foreign')
    await refused(ada, retry({ arguments: undefined }), 'foreign')
    await refused(ada, retry({ name: 'other' }), 'foreign')
    const prompt = { name: 'ask', requestState, inputResponses }
    await refused(ada, speaking('prompts/get', prompt, { meta: asker }), 'foreign')
    const { json } = await ada.ask(retry())
    expect(json.result.content[0].text).toBe('ask true for ada')
  })

  test('is rejected with any bit changed, any part missing, or anything appended', async () => {
    const as = await serveKnown(make().server)
    const ada = as('ada')
    const { retry, requestState } = await firstRound(ada)
    const wrong = new Set<string>()
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (let at = 0; at < requestState.length; at++) {
      const value = alphabet.indexOf(requestState[at] ?? '')
      const flipped = alphabet[value ^ (1 << (at % 6))]
      wrong.add(`${requestState.slice(0, at)}${flipped}${requestState.slice(at + 1)}`)
    }
    for (let length = 0; length < requestState.length; length += 7) {
      wrong.add(requestState.slice(0, length))
    }
    for (const tail of ['A', '=', '.', ' ', '\u0000', requestState]) wrong.add(requestState + tail)
    for (const text of ['{}', 'null', '__proto__', 'x'.repeat(100_000)]) wrong.add(text)
    wrong.delete(requestState)
    const wire = await ada.open(retry())
    expect((await wire.reply()).json.result.content[0].text).toBe('ask true for ada')
    wire.cut()
    expect(wrong.size).toBeGreaterThan(100)
    const all = [...wrong]
    for (let at = 0; at < all.length; at += 25) {
      await Promise.all(
        all.slice(at, at + 25).map(async text => {
          const { json } = await ada.ask(retry({ requestState: text }))
          expect([text, json.error?.code]).toEqual([text, -32602])
          expect(json.error.data.details).toMatch(/^requestState is (malformed|forged)$/)
        }),
      )
    }
    for (const other of [null, 5, {}, [], true]) {
      await refused(ada, retry({ requestState: other }), 'malformed')
    }
  })

  test('is rejected after its expiry, and by a server without the key', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const key = (byte: number) => new Uint8Array(32).fill(byte)
    const as = await serveKnown(make({ keys: [key(1)] }).server)
    const { retry } = await firstRound(as('ada'))
    const rotated = await serveKnown(make({ keys: [key(2), key(1)] }).server)
    const { json } = await rotated('ada').ask(retry())
    expect(json.result.content[0].text).toBe('ask true for ada')
    const foreign = await serveKnown(make({ keys: [key(2)] }).server)
    await refused(foreign('ada'), retry(), 'forged')
    vi.setSystemTime(Date.now() + limits.serverRequestMs.default)
    await refused(as('ada'), retry(), 'expired')
  })
})

describe('SEC-40: information that a client sends about itself', () => {
  test('in _meta, in either era, changes neither its identity nor its permissions', async () => {
    const server = new Server({ name: 'x', version: '1' })
    server.tool('who', {}, (_, ctx) => JSON.stringify(ctx.caller.principal ?? null))
    const as = await serveKnown(server)
    const forged = {
      principal: { id: 'root' },
      'io.modelcontextprotocol/principal': { id: 'root' },
      tenant: 'other',
      role: 'admin',
      authorization: 'root',
      ['__proto__']: { principal: { id: 'root' } },
    }
    for (const name of ['ada', undefined]) {
      const expected = JSON.stringify(name === undefined ? null : { id: name })
      const one = as(name)
      const free = await one.ask(calling('who', {}, { meta: forged }))
      expect(free.json.result.content[0].text).toBe(expected)
      const session = await one.session()
      const call = { name: 'who', arguments: {}, _meta: forged }
      const bound = await one.ask(inSession(session, 'tools/call', call, 1))
      expect(bound.json.result.content[0].text).toBe(expected)
    }
  })

  test('in its headers must match its body, in every header', async () => {
    const as = await serveKnown(make().server)
    const rows = [
      { 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-protocol-version': '2026-07-27' },
      { 'mcp-protocol-version': undefined },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': 'Tools/call' },
      { 'mcp-method': undefined },
      { 'mcp-name': 'other' },
      { 'mcp-name': 'Ask' },
      { 'mcp-name': undefined },
      { 'mcp-name': '=?base64?b3RoZXI=?=' },
    ]
    for (const headers of rows) {
      const { status, json } = await as('ada').ask(calling('ask', {}, { meta: asker, headers }))
      expect([headers, status, [-32020, -32000].includes(json.error?.code)]).toEqual([
        headers,
        400,
        true,
      ])
    }
  })
})

import { describe, expect, test } from 'vitest'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { Server } from '../../src/server/server.ts'
import { isRecord } from '../../src/util/objects.ts'
import { allRevisions, turns } from '../support/scripted-server.ts'
import { wire } from '../support/wire.ts'
import { examplesOf, mutants } from './mutants.ts'
import { Wire, written } from './raw.ts'
import { envelope, latest, stateless } from './requests.ts'
import { serve } from './served.ts'

/** Creates a server with one feature of each kind, all named "thing". */
function make(): { readonly server: Server; readonly broken: unknown[] } {
  const broken: unknown[] = []
  // Called for invalid notifications, too; an internal error is not an RpcError.
  const onError = (error: unknown): void => {
    if (!(error instanceof RpcError)) broken.push(error)
  }
  const server = new Server({ name: 'mutated', version: '1' }, { onError })
  const input = { type: 'object', properties: { thing: { type: 'string' } } } as const
  server.tool('thing', { input, task: 'optional' }, () => 'done')
  server.resource('thing', 'test://thing', {}, () => 'text')
  server.resourceTemplate('things', 'test://{id}', { complete: { id: () => ['thing'] } }, () => 'x')
  server.prompt('thing', { args: input, complete: { thing: () => ['a'] } }, () => 'hello')
  return { server, broken }
}

interface Message {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

const capabilities = { roots: {}, sampling: {}, elicitation: {}, tasks: {} }
const clientInfo = { name: 'mutants', version: '1' }
const declared = {
  ...envelope,
  'io.modelcontextprotocol/clientCapabilities': {
    ...capabilities,
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
}

/** Yields a valid example of each request and notification of a client. */
function* right(revision: string): Generator<Message> {
  const { requests, notifications } = examplesOf(revision)
  for (const [method, example] of [...requests, ...notifications]) {
    const params = Reflect.get(example, 'params') as object | undefined
    const _meta = { ...(params && Reflect.get(params, '_meta')), ...declared }
    const said = revision === stateless ? { ...params, _meta } : params
    yield { jsonrpc: '2.0', ...(requests.has(method) && { id: 1 }), method, params: said }
  }
}

/** Yields these messages and all of their mutants, those of the JSON-RPC envelope included. */
function* wrong(revision: string): Generator<Message> {
  for (const message of right(revision)) {
    yield message
    for (const mutant of mutants(message)) yield mutant as Message
  }
}

/** Returns what is wrong with a response; undefined if it is well-formed and no internal error. */
function problemOf(answer: unknown): string | undefined {
  if (!isRecord(answer) || answer.jsonrpc !== '2.0') return 'no JSON-RPC'
  if (typeof answer.method === 'string') return undefined
  if ('result' in answer)
    return isRecord(answer.result) ? undefined : 'a result that is not an object'
  const { error } = answer
  if (!isRecord(error) || !Number.isInteger(error.code) || typeof error.message !== 'string') {
    return 'an error without a code or words'
  }
  return error.code === -32603 ? 'an internal error' : undefined
}

/** Returns whether a message needs a response, which only a well-formed request does. */
function wantsAnswer({ jsonrpc, id, method }: Message): boolean {
  const isRequest = typeof id === 'string' || typeof id === 'number'
  return jsonrpc === '2.0' && isRequest && typeof method === 'string'
}

/** Requests that get their response later, or never. */
const lasting = new Set<unknown>(['subscriptions/listen', 'tasks/result'])

describe.each(allRevisions)('SEC-19: mutants of client messages in %s', revision => {
  test('are answered with a message, or not at all, and the server stays usable', async () => {
    const { server, broken } = make()
    const w = wire()
    server.attach(w.channel)
    const open = async (): Promise<void> => {
      const params = { protocolVersion: revision, capabilities, clientInfo }
      const say = (message: object) => w.deliver(JSON.stringify({ jsonrpc: '2.0', ...message }))
      if (revision === stateless) return
      await say({ id: 'open', method: 'initialize', params })
      await turns(1)
      await say({ method: 'notifications/initialized' })
    }
    await open()
    let count = 0
    let unanswered = new Map<string, string>()
    const problems: string[] = []
    const settle = async (): Promise<void> => {
      for (let i = 0; i < 5000 && (i < 2 || unanswered.size > 0); i++) {
        await turns(1)
        for (const text of w.sent.splice(0)) {
          const answer: unknown = JSON.parse(text)
          const problem = problemOf(answer)
          if (problem !== undefined) problems.push(`${problem}: ${text}`)
          if (isRecord(answer) && !('method' in answer)) unanswered.delete(String(answer.id))
        }
      }
      for (const text of unanswered.values()) problems.push(`not answered: ${text}`)
      unanswered = new Map()
    }
    for (const message of wrong(revision)) {
      // Each has a unique id, so that none takes the response of another.
      const id = message.id === 1 ? `m${count}` : message.id
      const text = JSON.stringify({ ...message, ...('id' in message && { id }) })
      if (id === `m${count}` && wantsAnswer({ ...message, id }) && !lasting.has(message.method)) {
        unanswered.set(id, text)
      }
      void w.deliver(text)
      if (++count % 64 === 0) await settle()
    }
    await settle()
    expect(problems.slice(0, 5)).toEqual([])
    expect(broken).toEqual([])
    expect(count).toBeGreaterThan(2000)
    // The server still responds.
    const _meta = revision === stateless ? envelope : undefined
    const params = { name: 'thing', arguments: {}, _meta }
    void w.deliver(JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'tools/call', params }))
    await turns(20)
    expect(w.sent.map(text => JSON.parse(text)).find(({ id }) => id === 'last')).toMatchObject({
      result: { content: [{ text: 'done' }] },
    })
    await server.close()
  })
})

describe.each([stateless, latest])('SEC-19: mutants over HTTP in %s', revision => {
  test('are answered with a status and a message, and the server stays usable', async () => {
    const { server, broken } = make()
    const on = await serve({}, server)
    const session = revision === stateless ? undefined : await on.session(revision)
    const all = [...wrong(revision)].filter(({ method }) => !lasting.has(method))
    // Every 17th of them, which covers different members of different messages.
    const share = all.filter((_, i) => i % 17 === 3)
    const problems: string[] = []
    await Promise.all(
      [0, 1, 2, 3].map(async worker => {
        const wire = await Wire.open(on.port)
        for (const message of share.filter((_, i) => i % 4 === worker)) {
          const { method, params } = message
          const name = isRecord(params) ? (params.name ?? params.uri ?? params.taskId) : undefined
          const headers =
            session === undefined
              ? {
                  'mcp-protocol-version': stateless,
                  'mcp-method': plain(method),
                  'mcp-name': plain(name),
                }
              : { 'mcp-session-id': session }
          const body = JSON.stringify(message)
          const reply = await wire.send(written(on.port, { headers, body })).reply()
          const said = reply.events.filter(data => data !== '')
          const answers = said.length > 0 ? said : reply.text === '' ? [] : [reply.text]
          for (const text of answers) {
            const problem = problemOf(JSON.parse(text))
            if (problem !== undefined) problems.push(`${problem}: ${body} ${text}`)
          }
          if (reply.status >= 500) problems.push(`${reply.status}: ${body}`)
        }
        wire.cut()
      }),
    )
    expect(problems.slice(0, 5)).toEqual([])
    expect(broken).toEqual([])
    expect(share.length).toBeGreaterThan(100)
    await on.isAlive()
  })
})

function plain(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) ? value : undefined
}

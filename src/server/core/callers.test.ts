import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { metaKeys } from '../../mcp/meta.ts'
import { newest, type Revision } from '../../mcp/revisions/revisions.ts'
import { streamChannel } from '../../transport/stream/stream.ts'
import type { Context } from '../context.ts'
import { Server } from '../server.ts'

function metaOf(name: string, capabilities: object = {}) {
  return {
    [metaKeys.protocolVersion]: '2026-07-28',
    [metaKeys.clientCapabilities]: capabilities,
    [metaKeys.clientInfo]: { name, version: '1' },
  }
}

describe('stateless requests, one after the other on one connection', () => {
  /** A server whose tool runs `code`, and a way to call it with a `_meta` and read the answer. */
  function served(code: (context: Context) => unknown) {
    const server = new Server({ name: 'server', version: '1.0.0' })
    server.tool('run', {}, (_, context) => String(code(context)))
    const connect = (envelope?: Parameters<Server['attach']>[1]) => {
      const input = new PassThrough()
      const output = new PassThrough()
      server.attach(streamChannel(input, output), envelope)
      let id = 0
      return async (_meta: object): Promise<string> => {
        const params = { name: 'run', _meta }
        const request = { jsonrpc: '2.0', id: ++id, method: 'tools/call', params }
        const replied = new Promise<Buffer>(resolve => output.once('data', resolve))
        input.write(`${JSON.stringify(request)}\n`)
        const { result, error } = JSON.parse((await replied).toString())
        return error?.message ?? result.content[0].text
      }
    }
    return connect
  }

  it('are each answered according to their own _meta', async () => {
    const say = served(({ caller }) => {
      return `${caller.client?.name} ${Object.keys(caller.capabilities)}`
    })()
    const a = metaOf('a')
    const b = metaOf('b', { roots: {} })
    const said: string[] = []
    for (const meta of [a, a, a, b, a, b, b, b, a]) said.push(await say(meta))
    const [wordsA, wordsB] = ['a ', 'b roots']
    expect(said).toEqual([a, a, a, b, a, b, b, b, a].map(meta => (meta === a ? wordsA : wordsB)))
  })

  it('are refused when they are invalid, however often the one before was valid', async () => {
    const say = served(({ caller }) => caller.client?.name)()
    for (let i = 0; i < 3; i++) expect(await say(metaOf('a'))).toBe('a')
    const unknown = { ...metaOf('a'), [metaKeys.protocolVersion]: '1999-01-01' }
    for (let i = 0; i < 3; i++) expect(await say(unknown)).toMatch(/version/i)
    const broken = { ...metaOf('a'), [metaKeys.clientCapabilities]: { roots: 1 } }
    for (let i = 0; i < 3; i++) expect(await say(broken)).toContain('clientCapabilities')
    expect(await say(metaOf('a'))).toBe('a')
  })

  it('keep the token of each apart', async () => {
    const say = served(({ meta }) => meta.progressToken)()
    const tokens: string[] = []
    for (const progressToken of [1, 1, 1, 2, 'x', 1]) {
      tokens.push(await say({ ...metaOf('a'), progressToken }))
    }
    expect(tokens).toEqual(['1', '1', '1', '2', 'x', '1'])
  })

  it('have callers of their own on each connection', async () => {
    const connect = served(({ caller }) => `${caller.principal?.id} ${caller.client?.name}`)
    const alice = connect({ principal: { id: 'alice' } })
    const bob = connect({ principal: { id: 'bob' } })
    for (let i = 0; i < 4; i++) {
      expect(await alice(metaOf('same'))).toBe('alice same')
      expect(await bob(metaOf('same'))).toBe('bob same')
    }
  })

  it('cannot be changed by the code that answers another one', async () => {
    const say = served(({ caller, meta }) => {
      for (const target of [caller, caller.client, caller.capabilities, meta]) {
        // Refused, or without effect on the next request.
        Reflect.set(target as object, 'name', 'changed')
        Reflect.set(target as object, 'principal', 'changed')
      }
      return `${caller.client?.name} ${caller.principal} ${meta.name}`
    })()
    const said: string[] = []
    for (let i = 0; i < 5; i++) said.push(await say(metaOf('a')))
    expect(said.slice(2)).toEqual(Array(3).fill('a undefined undefined'))
  })
})

it('a caller that the transport has read is not read again', () => {
  const server = new Server({ name: 'test', version: '1' })
  server.tool('who', {}, (_, { caller }) => caller.client?.name ?? 'unknown')
  const revision = newest('stateless') as Revision
  const caller = { revision, capabilities: {}, client: { name: 'ada', version: '1' } }
  const signal = new AbortController().signal
  const message = { type: 'request', id: 1, method: 'tools/call', params: { name: 'who' } } as const
  const result = server.handle(message, { signal, envelope: {}, notify() {} }, caller)
  expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'ada' }] })
})

import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  allRevisions,
  answeringClient,
  sessionRevisions,
  stateless,
} from '../../../test/support/answering-client.ts'
import { turn } from '../../../test/support/wire.ts'
import type { LogLevel } from '../../mcp/types/logging.ts'
import { limits } from '../../util/limits/limits.ts'
import { Server } from '../server.ts'

const levels: readonly LogLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

function talkative() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  server.tool('log', {}, (_, ctx) => {
    for (const level of levels) ctx.log(level, { level }, 'test')
    setImmediate(() => ctx.log('emergency', 'late'))
    return 'logged'
  })
  server.tool('flood', {}, (_, ctx) => {
    for (let n = 0; n < limits.logBurst.default * 2; n++) ctx.log('error', n)
    return 'flooded'
  })
  server.tool('odd', {}, (_, ctx) => {
    ctx.log('loud' as LogLevel, 'x')
    return 'never'
  })
  server.tool('nothing', {}, (_, ctx) => {
    ctx.log('error', undefined)
    return ''
  })
  return server
}

type Client = Awaited<ReturnType<typeof answeringClient>>

async function logged(client: Client, level?: string): Promise<unknown[]> {
  const _meta = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level }
  await client.request('tools/call', { name: 'log', _meta })
  return client
    .received()
    .splice(0)
    .map(({ params }) => params?.level)
}

describe.each(sessionRevisions)('a session of %s', revision => {
  it('receives messages from info on until it sets a level, and then from that level on', async () => {
    proves('U7', 'U7j')
    const client = await answeringClient(talkative(), revision)
    expect(await logged(client)).toEqual(levels.slice(1))
    await turn()
    client.received().splice(0)
    for (const level of levels) {
      expect((await client.request('logging/setLevel', { level })).result).toEqual({})
      expect(await logged(client)).toEqual(levels.slice(levels.indexOf(level)))
      await turn()
      client.received().splice(0)
    }
  })

  it('keeps its level to itself', async () => {
    const server = talkative()
    const client = await answeringClient(server, revision)
    const other = await answeringClient(server, revision)
    await client.request('logging/setLevel', { level: 'emergency' })
    expect(await logged(other)).toEqual(levels.slice(1))
    expect(await logged(client)).toEqual(['emergency'])
  })

  it.each(['loud', '', 5, null, undefined, 'constructor'])('rejects the level %j', async level => {
    proves('U7b')
    const client = await answeringClient(talkative(), revision)
    expect((await client.request('logging/setLevel', { level })).error).toMatchObject({
      code: -32602,
    })
    expect(await logged(client)).toEqual(levels.slice(1))
  })
})

describe('a request without a session', () => {
  it('receives nothing unless it names a level, which applies to it alone', async () => {
    proves('U8', 'U8b', 'U8c', 'V9', 'B15')
    const client = await answeringClient(talkative(), stateless)
    expect(await logged(client)).toEqual([])
    expect(await logged(client, 'warning')).toEqual(levels.slice(3))
    expect(await logged(client)).toEqual([])
    await turn()
    expect(client.received()).toEqual([])
  })

  it('with a level that does not exist is refused', async () => {
    proves('U8d')
    const client = await answeringClient(talkative(), stateless)
    const _meta = { 'io.modelcontextprotocol/logLevel': 'loud' }
    const { error } = await client.request('tools/call', { name: 'log', _meta })
    expect(error).toMatchObject({ code: -32602 })
  })
})

describe.each(allRevisions)('log messages in %s', revision => {
  const _meta = { 'io.modelcontextprotocol/logLevel': 'debug' }

  it('are limited in number', async () => {
    proves('U7c')
    const client = await answeringClient(talkative(), revision)
    await client.request('tools/call', { name: 'flood', _meta })
    const count = client.received().length
    expect(count).toBeGreaterThanOrEqual(limits.logBurst.default)
    expect(count).toBeLessThan(limits.logBurst.default * 1.5)
  })

  it('have a level that exists, and data', async () => {
    const client = await answeringClient(talkative(), revision)
    expect(await client.request('tools/call', { name: 'odd', _meta })).toMatchObject({
      result: { isError: true },
    })
    await client.request('tools/call', { name: 'nothing', _meta })
    expect(client.received()).toMatchObject([{ params: { level: 'error', data: null } }])
  })
})

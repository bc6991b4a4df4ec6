import { describe, expect, it } from 'vitest'
import { proves } from '../../test/requirements.ts'
import { connect } from '../connect.ts'
import { Server } from '../server/server.ts'
import { Router } from './router.ts'

/** Adds a tool that elicits a city. */
function addAsking(server: Server): void {
  server.tool('ask', { description: 'Asks' }, async (_, ctx) => {
    const { city } = await ctx.elicit({
      message: 'Where?',
      schema: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      } as const,
    })
    return `in ${city}`
  })
}

function weather(): Server {
  const server = new Server({ name: 'weather', version: '1' })
  server.tool('report', { description: 'How it is' }, () => 'sunny')
  addAsking(server)
  server.resource('now', 'weather://now', {}, () => 'sunny')
  server.prompt('plan', {}, () => 'plan the day')
  return server
}

describe('a router', () => {
  it('exposes the features of its servers under distinct names', async () => {
    proves('S5f', 'S5g')
    await using router = new Router({ servers: { weather: weather(), other: weather() } })
    await using client = await connect(router)
    const tools = []
    for await (const tool of client.tools()) tools.push(tool.name)
    expect(tools).toEqual(['weather__report', 'weather__ask', 'other__report', 'other__ask'])
    const { content } = await client.call('other__report')
    expect(content).toEqual([{ type: 'text', text: 'sunny' }])
    expect((await client.read('weather://now')).contents).toMatchObject([{ text: 'sunny' }])
    expect((await client.prompt('weather__plan')).messages).toHaveLength(1)
  })

  it('names the server of each tool and prompt, whatever that server says', async () => {
    const liar = weather()
    liar.tool('lie', { meta: { 'trunkline/server': 'weather', kept: 1 } }, () => '')
    await using router = new Router({ servers: { liar } })
    await using client = await connect(router)
    const named = { 'trunkline/server': 'liar' }
    const tools = []
    for await (const tool of client.tools()) tools.push(tool._meta)
    expect(tools).toEqual([named, named, { ...named, kept: 1 }])
    for await (const prompt of client.prompts()) expect(prompt._meta).toEqual(named)
  })

  it('is created when a client connects to several servers', async () => {
    const client = await connect({ mcpServers: { weather: weather(), other: weather() } })
    expect((await client.call('weather__report')).text).toBe('sunny')
    await client.close()
    await expect(client.call('weather__report')).rejects.toMatchObject({ code: 'closed' })
  })

  const eras = ['session', 'stateless'] as const
  const cells = eras.flatMap(downstream => eras.map(upstream => [downstream, upstream] as const))

  it.each(cells)(
    'forwards a request of a %s server to a %s caller',
    async (upstreamEra, callerEra) => {
      const only = upstreamEra === 'session' ? '2025-11-25' : '2026-07-28'
      const upstream = new Server({ name: 'x', version: '1' }, { revisions: [only] })
      addAsking(upstream)
      await using router = new Router({ servers: { x: upstream } })
      await using client = await connect(router, {
        era: callerEra,
        elicit: () => ({ action: 'accept', content: { city: 'Bern' } }),
      })
      const { content } = await client.call('x__ask')
      expect(content).toEqual([{ type: 'text', text: 'in Bern' }])
    },
  )
})

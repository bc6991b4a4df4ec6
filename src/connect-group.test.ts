import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connect } from './connect.ts'
import { Server } from './server/server.ts'

const revisions = ['2025-11-25', '2026-07-28'] as const

function bank(name: string, revision: (typeof revisions)[number]) {
  const server = new Server({ name, version: '1' }, { revisions: [revision] })
  server.tool('pay', {}, async (_, ctx) => {
    ctx.log('info', 'paying')
    const { pin } = await ctx.elicit({ message: 'PIN?', schema: z.object({ pin: z.string() }) })
    return pin
  })
  server.tool('think', {}, async (_, ctx) => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'Hm' } }] as const
    return (await ctx.sample({ messages, maxTokens: 5 })).model
  })
  return server
}

describe.each(revisions)('servers that speak %s', upstream => {
  test.each(revisions)('name themselves to a client of %s', async revision => {
    const logged: unknown[] = []
    await using client = await connect(
      { mcpServers: { red: bank('bank', upstream), blue: bank('bank', upstream) } },
      {
        revisions: [revision],
        elicit: (_, { server }) => ({ action: 'accept', content: { pin: `for ${server}` } }),
        sample: (_, { server }) => ({
          role: 'assistant',
          content: { type: 'text', text: '' },
          model: `model of ${server}`,
        }),
        onLog: ({ server, data }) => void logged.push([server, data]),
      },
    )
    await client.setLogLevel('info')
    expect((await client.call('red__pay')).text).toBe('for red')
    expect((await client.call('blue__pay')).text).toBe('for blue')
    expect((await client.call('blue__think')).text).toBe('model of blue')
    expect(logged).toContainEqual(['red', 'paying'])
    expect(logged).toContainEqual(['blue', 'paying'])
  })
})

test('a server without a router has no name in the context', async () => {
  const servers: unknown[] = []
  await using client = await connect(bank('bank', '2026-07-28'), {
    elicit: (_, { server }) => {
      servers.push(server)
      return { action: 'accept', content: { pin: '1' } }
    },
  })
  await client.call('pay')
  expect(servers).toEqual([undefined])
})

test('the client of a group has its router', async () => {
  const client = await connect({ mcpServers: { red: bank('bank', '2026-07-28') } })
  const { router } = client
  expect(router.server('red')?.level).toBe('ok')
  expect(router.tools()).toContainEqual({ name: 'red__pay', server: 'red' })
  router.register('blue', bank('bank', '2026-07-28'))
  await router.ready()
  expect((await client.call('blue__pay').catch(error => error)).kind).not.toBe('tool_not_found')
  await client.close()
})

test('the principal of a group reaches its servers', async () => {
  const server = new Server({ name: 'a', version: '1' })
  server.tool('who', {}, (_, ctx) => ctx.caller.principal?.id ?? 'nobody')
  await using client = await connect({ mcpServers: { a: server } }, { principal: { id: 'ada' } })
  expect((await client.call('a__who')).text).toBe('ada')
})

describe('options that a target cannot honour', () => {
  const refused = {
    onStderr: () => {},
    onChild: () => {},
    framing: 'lines',
    http: {},
    onChannel: (channel: never) => channel,
  } as const

  test.each(Object.entries(refused))('%s is refused', async (name, value) => {
    const server = bank('bank', '2026-07-28')
    const group = connect({ mcpServers: { a: server } }, { [name]: value })
    await expect(group).rejects.toThrow(`option "${name}" has no effect for { mcpServers }`)
    const local = connect(server, { [name]: value })
    await expect(local).rejects.toThrow(`option "${name}" has no effect for a server of this`)
  })
})

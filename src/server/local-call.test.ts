import { expect, test } from 'vitest'
import * as z from 'zod'
import { Server } from './server.ts'

const info = { name: 'a', version: '1' }

test('a tool is called without a client, by anybody', async () => {
  const server = new Server(info, { context: () => ({ plan: 'free' }) })
  const input = z.object({ n: z.number().default(2) })
  const output = z.object({ n: z.number() })
  server.tool('double', { input, output }, ({ n }) => ({ n: n * 2, secret: 1 }))
  server.tool('who', {}, (_, ctx) => `${ctx.caller.principal?.id} ${ctx.env.plan} ${ctx.headers.a}`)
  server.tool('paid', { visible: (_, env) => env.plan === 'paid' }, () => 'paid')
  expect(await server.call('double')).toMatchObject({ structured: { n: 4 }, isError: false })
  expect((await server.call('double', { n: 'x' })).text).toContain('Invalid arguments')
  const who = { principal: { id: 'ada' }, headers: { a: '1' } }
  expect((await server.call('who', {}, who)).text).toBe('ada free 1')
  expect((await server.call('who', {}, { env: { plan: 'paid' } })).text).toBe(
    'undefined paid undefined',
  )
  await expect(server.call('paid')).rejects.toMatchObject({ kind: 'tool_not_found' })
  expect((await server.call('paid', {}, { env: { plan: 'paid' } })).text).toBe('paid')
  await expect(server.call('nothing')).rejects.toThrow('Tool not found: nothing')
})

test('its client answers, gets progress and logs, and cancels', async () => {
  const server = new Server(info)
  server.tool('asks', {}, async (_, ctx) => {
    ctx.progress(1, 2, 'half')
    ctx.log('debug', 'asking')
    const { ok } = await ctx.elicit({ message: 'Sure?', schema: z.object({ ok: z.boolean() }) })
    const { content } = await ctx.sample({ messages: [], maxTokens: 1 })
    const roots = await ctx.roots()
    return `${ok} ${JSON.stringify(content)} ${roots.length}`
  })
  server.tool('waits', {}, (_, ctx) => {
    return new Promise((_, reject) =>
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
    )
  })
  const progress: unknown[] = []
  const logs: unknown[] = []
  const answer = await server.call(
    'asks',
    {},
    {
      elicit: () => ({ action: 'accept', content: { ok: true } }),
      sample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } }),
      roots: [{ uri: 'file:///a' }],
      onProgress: (...step) => void progress.push(step),
      onLog: message => void logs.push(message),
    },
  )
  expect(answer.text).toBe('true {"type":"text","text":"hi"} 1')
  expect(progress).toEqual([[1, 2, 'half']])
  expect(logs).toMatchObject([{ level: 'debug', data: 'asking' }])
  const unable = await server.call('asks').catch(error => error)
  expect(unable).toMatchObject({ kind: 'capability_not_supported' })
  const controller = new AbortController()
  const waiting = server.call('waits', {}, { signal: controller.signal })
  controller.abort(new Error('enough'))
  expect(await waiting).toMatchObject({ isError: true, text: 'enough' })
})

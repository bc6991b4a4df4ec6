import { expect, test } from 'vitest'
import { Server } from '../../src/server/server.ts'
import { caller, routed } from './routed.ts'

test('the response to a server request reaches only the server that sent it', async () => {
  const revisions = ['2026-07-28'] as const
  const first = new Server({ name: 'first', version: '1' }, { revisions })
  const seen: unknown[] = []
  first.resource('own', 'first://own', {}, () => 'own')
  first.use(next => (message, exchange) => {
    if (message.method === 'resources/read') seen.push(message.params)
    return next(message, exchange)
  })
  const second = new Server({ name: 'second', version: '1' }, { revisions })
  second.resource('asks', 'second://asks', {}, async ctx => {
    const { word } = await ctx.elicit({
      message: 'The word?',
      schema: { type: 'object', properties: { word: { type: 'string' } } } as const,
    })
    return `it is ${word}`
  })
  // The resource is not listed, so the router searches for the server that has it.
  second.use(
    next => (message, exchange) =>
      message.method === 'resources/list' ? { resources: [] } : next(message, exchange),
  )
  const router = await routed({ first, second })
  const client = await caller(router, {
    era: 'stateless',
    elicit: () => ({ action: 'accept', content: { word: 'confidential' } }),
  })
  expect((await client.read('second://asks')).contents).toMatchObject([
    { text: 'it is confidential' },
  ])
  expect(JSON.stringify(seen)).not.toContain('confidential')
})

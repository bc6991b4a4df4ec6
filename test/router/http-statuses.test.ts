import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type CallFinished, events } from '../../src/observe/events.ts'
import { caller, failureOf, routed } from './routed.ts'

type Answer = (response: ServerResponse, id: unknown) => void

/** An MCP server over HTTP that answers tool calls as told, and everything else properly. */
async function web(answer: Answer) {
  const asked = { calls: 0 }
  const server = createServer(async (request, response) => {
    const message = await bodyOf(request)
    if (message?.method === 'tools/call') {
      asked.calls++
      answer(response, message.id)
      return
    }
    const result = resultOf(message?.method)
    if (result === undefined) response.writeHead(message === undefined ? 405 : 202).end()
    else json(response, { jsonrpc: '2.0', id: message?.id, result })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, asked }
}

async function bodyOf(
  request: IncomingMessage,
): Promise<{ method?: string; id?: unknown } | undefined> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text === '' ? undefined : JSON.parse(text)
}

function resultOf(method: string | undefined): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'web', version: '1' },
      }
    case 'tools/list':
      return { tools: [{ name: 'work', inputSchema: { type: 'object' } }] }
    case 'ping':
      return {}
    default:
      return undefined
  }
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const done: Answer = (response, id) => {
  const result = { content: [{ type: 'text', text: 'done' }] }
  json(response, { jsonrpc: '2.0', id, result })
}

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  response =>
    response.writeHead(code, headers).end()

/** The error of a call, the log of it, and the status of the instance. */
async function outcomeOf(answer: Answer) {
  const { url, asked } = await web(answer)
  const router = await routed({ web: { url, prefix: false, breaker: { failures: 1 } } })
  const client = await caller(router)
  const failed: CallFinished[] = []
  onTestFinished(events.callFailed.subscribe(call => failed.push(call)))
  const error = await failureOf(client.call('work'))
  const instance = router.server('web')?.instances[0]
  return { error, asked: asked.calls, reason: failed[0]?.reason, instance, client, router }
}

test.each([429, 503])('status %i with Retry-After: the server is busy until then', async code => {
  const seen = await outcomeOf(status(code, { 'retry-after': '7' }))
  expect(seen).toMatchObject({
    error: {
      code: -32000,
      message: 'The server "web" is busy',
      data: { server: 'web', retryAfterMs: 7000 },
    },
    asked: 1,
    reason: `HTTP ${code}`,
    instance: { breaker: 'closed', state: 'ready', lastFailure: `HTTP ${code}` },
  })
  // Until then it gets no calls.
  const again = (await failureOf(seen.client.call('work'))) as { data: { retryAfterMs: number } }
  expect(again).toMatchObject({ code: -32000, message: 'The server "web" is busy' })
  expect(again.data.retryAfterMs).toBeGreaterThan(0)
  expect(again.data.retryAfterMs).toBeLessThanOrEqual(7000)
  expect(seen.router.server('web')).toMatchObject({
    level: 'down',
    reason: 'it asked for a pause (Retry-After)',
  })
})

test('another instance takes the calls of a busy one', async () => {
  const busy = await web(status(429, { 'retry-after': '60' }))
  const idle = await web(done)
  const urls = [busy.url, idle.url]
  const router = await routed({ web: { urls, prefix: false, balance: 'round-robin' } })
  const client = await caller(router)
  for (let call = 0; call < 10; call++) expect((await client.call('work')).text).toBe('done')
  expect(busy.asked.calls).toBeLessThanOrEqual(1)
  expect(idle.asked.calls).toBe(10)
})

test('status 503 without Retry-After is neither retried at once nor held against the server', async () => {
  expect(await outcomeOf(status(503))).toMatchObject({
    error: { code: -32000, message: 'The server "web" is busy' },
    asked: 1,
    instance: { breaker: 'closed' },
  })
})

test.each([401, 403])('status %i: it refuses the credentials of the router', async code => {
  expect(await outcomeOf(status(code))).toMatchObject({
    error: {
      code: -32000,
      data: { reason: "it refuses the router's credentials" },
    },
    asked: 1,
    reason: `HTTP ${code}`,
    instance: { breaker: 'closed', lastFailure: `HTTP ${code}` },
  })
})

test('status 500 is named, and the outcome is unknown', async () => {
  expect(await outcomeOf(status(500))).toMatchObject({
    error: {
      code: -32008,
      message:
        'The server "web" answered with HTTP 500; whether the call was carried out is unknown',
      data: { outcome: 'unknown' },
    },
    asked: 1,
    reason: 'HTTP 500',
    instance: { lastFailure: 'HTTP 500' },
  })
})

test('a redirect to another origin is named', async () => {
  const seen = await outcomeOf(status(307, { location: 'http://example.invalid/mcp' }))
  expect(seen).toMatchObject({
    error: { code: -32000, data: { reason: 'it redirects to another address' } },
    reason: 'HTTP 307',
  })
})

test.each<[string, Answer]>([
  ['a page', response => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
  ['the response to another call', response => json(response, foreign)],
])('a call that is answered with %s may have been carried out', async (_, answer) => {
  expect(await outcomeOf(answer)).toMatchObject({
    error: { code: -32008, data: { server: 'web', outcome: 'unknown' } },
    asked: 1,
  })
})

const foreign = { jsonrpc: '2.0', id: 'foreign', result: {} }

import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  bare,
  DrivenChannel,
  Events,
  json,
  type Script,
  settle,
} from '../../../test/support/fake-fetch.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'

/** A server of the HTTP+SSE transport that names this URL for messages. */
function pair(endpoint: string, events = new Events(), status = 404): Script {
  return received => {
    if (received.method === 'GET') {
      events.write(`event: endpoint\ndata: ${endpoint}\n\n`)
      return events.response
    }
    return received.url.includes('messages') ? bare(202) : new Response('Cannot POST', { status })
  }
}

describe('a server of the HTTP+SSE transport', () => {
  test.each([400, 404, 405])('is detected when it answers initialize with %i', async status => {
    proves('H14b', 'H14c', 'P3')
    const events = new Events()
    const driven = new DrivenChannel(pair('/messages?id=1', events, status))
    driven.request(0, 'initialize', { protocolVersion: '2024-11-05' })
    await driven.until(({ received }) => received.length === 3)
    events.message({ id: 0, result: { protocolVersion: '2024-11-05' } })
    await driven.ended()
    expect(driven.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST http://localhost:1/mcp',
      'GET http://localhost:1/mcp',
      'POST http://localhost:1/messages?id=1',
    ])
    driven.notify('notifications/initialized')
    driven.request(1, 'tools/list')
    await settle()
    expect(driven.received.slice(3).map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST http://localhost:1/messages?id=1',
      'POST http://localhost:1/messages?id=1',
    ])
    expect(driven.received.at(-1)?.headers.has('mcp-protocol-version')).toBe(false)
    events.message({ id: 'q', method: 'ping' }).message({ id: 1, result: {} })
    await driven.ended(3)
    expect(driven.failures).toEqual([])
    await driven.channel.close()
    expect(driven.received.some(({ method }) => method === 'DELETE')).toBe(false)
  })

  test('may reply before it has accepted', async () => {
    const events = new Events()
    const script = pair('/messages', events)
    let accept = () => {}
    const driven = new DrivenChannel((received, count) => {
      if (count !== 3) return script(received, count)
      return new Promise(resolve => {
        accept = () => resolve(bare(202))
      })
    })
    driven.request(0, 'initialize')
    await driven.until(({ received }) => received.length === 3)
    events.message({ id: 0, result: {} })
    await driven.ended()
    accept()
    await settle()
    expect(driven.failures).toEqual([])
  })

  test('ends with its event stream', async () => {
    const events = new Events()
    const driven = new DrivenChannel(pair('/messages', events))
    driven.request(0, 'initialize')
    await driven.until(({ received }) => received.length === 3)
    events.end()
    await driven.until(({ closed }) => closed !== undefined)
    expect(driven.closed?.cause?.message).toContain('event stream ended')
  })

  test.each([
    ['http://evil.test/messages', /evil\.test/],
    ['https://localhost:1/messages', /https:/],
    ['//other:1/', /other/],
    ['http://me:secret@localhost:1/', /password/],
    ['http://[', /not a URL/],
  ])('that names %s is rejected, and nothing is sent there', async (endpoint, words) => {
    const driven = new DrivenChannel(pair(endpoint))
    driven.request(0, 'initialize')
    await driven.ended()
    expect(driven.failures).toMatchObject([{ id: 0, error: { code: 'refused' } }])
    expect(driven.failures[0]?.error.message).toMatch(words)
    expect(driven.received).toHaveLength(2)
  })

  test('that names nothing in time fails', async () => {
    const clock = fakeClock()
    const driven = new DrivenChannel(
      ({ method, signal }) => (method === 'GET' ? new Events(signal).response : bare(404)),
      { clock },
    )
    driven.request(0, 'initialize')
    await driven.until(({ received }) => received.length === 2)
    await settle()
    clock.advance(limits.httpAcceptMs.default)
    await driven.ended()
    expect(driven.failures[0]?.error.message).toMatch(/404.*no endpoint in time/)
  })

  test('that ends its stream without naming anything fails', async () => {
    const driven = new DrivenChannel(({ method }) =>
      method === 'GET' ? new Events().end() : bare(404),
    )
    driven.request(0, 'initialize')
    await driven.ended()
    expect(driven.failures[0]?.error.message).toMatch(/names no endpoint/)
  })

  test('is not assumed of a server with a JSON-RPC error of its own', async () => {
    proves('N16')
    const bodies = [
      { id: 0, error: { code: -32602, message: 'no', data: {} } },
      { id: null, error: { code: -32022, message: 'no', data: { supported: [] } } },
      { id: null, error: { code: -32000, message: 'no', data: { supported: [] } } },
    ]
    for (const body of bodies) {
      const driven = new DrivenChannel(() => json({ jsonrpc: '2.0', ...body }, 400))
      driven.request(0, 'initialize')
      await driven.ended()
      expect(driven.arrivals).toMatchObject([{ arrival: { id: 0, error: body.error } }])
      expect(driven.received).toHaveLength(1)
    }
  })

  test('is looked for after a generic error, which stands if there is none', async () => {
    const body = { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'no' } }
    const driven = new DrivenChannel(({ method }) =>
      method === 'GET' ? bare(405) : json(body, 400),
    )
    driven.request(0, 'initialize')
    await driven.ended()
    expect(driven.received).toHaveLength(2)
    expect(driven.arrivals).toMatchObject([
      { arrival: { type: 'error', id: 0, error: body.error } },
    ])
  })
})

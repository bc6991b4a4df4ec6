import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { bare, Events, json, type Script, settle, Talk } from '../../../test/support/fake-fetch.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'

/** A server of the HTTP+SSE transport that names this URL for messages. */
function pair(endpoint: string, events = new Events(), status = 404): Script {
  return asked => {
    if (asked.method === 'GET') {
      events.write(`event: endpoint\ndata: ${endpoint}\n\n`)
      return events.response
    }
    return asked.url.includes('messages') ? bare(202) : new Response('Cannot POST', { status })
  }
}

describe('a server of the HTTP+SSE transport', () => {
  test.each([400, 404, 405])('is detected when it answers initialize with %i', async status => {
    proves('H14b', 'H14c', 'P3')
    const events = new Events()
    const talk = new Talk(pair('/messages?id=1', events, status))
    talk.request(0, 'initialize', { protocolVersion: '2024-11-05' })
    await talk.until(({ asked }) => asked.length === 3)
    events.message({ id: 0, result: { protocolVersion: '2024-11-05' } })
    await talk.ended()
    expect(talk.asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST http://localhost:1/mcp',
      'GET http://localhost:1/mcp',
      'POST http://localhost:1/messages?id=1',
    ])
    talk.notify('notifications/initialized')
    talk.request(1, 'tools/list')
    await settle()
    expect(talk.asked.slice(3).map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST http://localhost:1/messages?id=1',
      'POST http://localhost:1/messages?id=1',
    ])
    expect(talk.asked.at(-1)?.headers.has('mcp-protocol-version')).toBe(false)
    events.message({ id: 'q', method: 'ping' }).message({ id: 1, result: {} })
    await talk.ended(3)
    expect(talk.failures).toEqual([])
    await talk.channel.close()
    expect(talk.asked.some(({ method }) => method === 'DELETE')).toBe(false)
  })

  test('may reply before it has accepted', async () => {
    const events = new Events()
    const script = pair('/messages', events)
    let accept = () => {}
    const talk = new Talk((asked, count) => {
      if (count !== 3) return script(asked, count)
      return new Promise(resolve => {
        accept = () => resolve(bare(202))
      })
    })
    talk.request(0, 'initialize')
    await talk.until(({ asked }) => asked.length === 3)
    events.message({ id: 0, result: {} })
    await talk.ended()
    accept()
    await settle()
    expect(talk.failures).toEqual([])
  })

  test('ends with its event stream', async () => {
    const events = new Events()
    const talk = new Talk(pair('/messages', events))
    talk.request(0, 'initialize')
    await talk.until(({ asked }) => asked.length === 3)
    events.end()
    await talk.until(({ closed }) => closed !== undefined)
    expect(talk.closed?.cause?.message).toContain('event stream ended')
  })

  test.each([
    ['http://evil.test/messages', /evil\.test/],
    ['https://localhost:1/messages', /https:/],
    ['//other:1/', /other/],
    ['http://me:secret@localhost:1/', /password/],
    ['http://[', /not a URL/],
  ])('that names %s is rejected, and nothing is sent there', async (endpoint, words) => {
    const talk = new Talk(pair(endpoint))
    talk.request(0, 'initialize')
    await talk.ended()
    expect(talk.failures).toMatchObject([{ id: 0, error: { code: 'refused' } }])
    expect(talk.failures[0]?.error.message).toMatch(words)
    expect(talk.asked).toHaveLength(2)
  })

  test('that names nothing in time fails', async () => {
    const clock = fakeClock()
    const talk = new Talk(
      ({ method, signal }) => (method === 'GET' ? new Events(signal).response : bare(404)),
      { clock },
    )
    talk.request(0, 'initialize')
    await talk.until(({ asked }) => asked.length === 2)
    await settle()
    clock.advance(limits.httpAcceptMs.default)
    await talk.ended()
    expect(talk.failures[0]?.error.message).toMatch(/404.*no endpoint in time/)
  })

  test('that ends its stream without naming anything fails', async () => {
    const talk = new Talk(({ method }) => (method === 'GET' ? new Events().end() : bare(404)))
    talk.request(0, 'initialize')
    await talk.ended()
    expect(talk.failures[0]?.error.message).toMatch(/names no endpoint/)
  })

  test('is not assumed of a server with a JSON-RPC error of its own', async () => {
    proves('N16')
    const bodies = [
      { id: 0, error: { code: -32602, message: 'no', data: {} } },
      { id: null, error: { code: -32022, message: 'no', data: { supported: [] } } },
      { id: null, error: { code: -32000, message: 'no', data: { supported: [] } } },
    ]
    for (const body of bodies) {
      const talk = new Talk(() => json({ jsonrpc: '2.0', ...body }, 400))
      talk.request(0, 'initialize')
      await talk.ended()
      expect(talk.arrivals).toMatchObject([{ arrival: { id: 0, error: body.error } }])
      expect(talk.asked).toHaveLength(1)
    }
  })

  test('is looked for after a generic error, which stands if there is none', async () => {
    const body = { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'no' } }
    const talk = new Talk(({ method }) => (method === 'GET' ? bare(405) : json(body, 400)))
    talk.request(0, 'initialize')
    await talk.ended()
    expect(talk.asked).toHaveLength(2)
    expect(talk.arrivals).toMatchObject([{ arrival: { type: 'error', id: 0, error: body.error } }])
  })
})

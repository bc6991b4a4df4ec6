import { describe, expect, test } from 'vitest'
import { speaking } from '../../../test/http/requests.ts'
import { proves } from '../../../test/requirements.ts'
import { FakeReply, httpRequest } from '../../../test/support/http.ts'
import { stage } from '../../../test/support/http-server.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import type { HttpOptions } from './options.ts'
import { HttpService } from './service.ts'

const headers = { 'content-type': 'application/json' }

function service(options?: HttpOptions, change: Partial<Endpoint> = {}) {
  const on = stage()
  const { server } = on
  const handle = server.handle.bind(server)
  const endpoint: Endpoint = {
    profile: server.profile,
    revisions: server.revisions,
    handle,
    attach: (channel, envelope) => server.attach(channel, envelope),
    ...change,
  }
  const it = new HttpService(endpoint, options)
  const post = (asking: { headers?: object; body?: unknown }): FakeReply => {
    const reply = new FakeReply()
    const all = { ...headers, ...asking.headers } as Record<string, string>
    it.handle(httpRequest({ headers: all, body: String(asking.body) }), reply)
    return reply
  }
  return { ...on, it, post }
}

const opening = {
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    },
  }),
}

describe('a service', () => {
  test('with an internal error responds without details, and reports it', () => {
    const failures: unknown[] = []
    const attach = (): never => {
      throw new Error('secret')
    }
    const { post } = service({ onError: error => failures.push(error) }, { attach })
    const reply = post(opening)
    expect([reply.status, reply.json.error.message]).toEqual([500, 'Internal error'])
    expect(String(failures)).toContain('secret')
  })

  test('accepts a notification without a session, and ignores it', () => {
    const { post } = service()
    const body = JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1 },
    })
    expect(post({ body }).status).toBe(202)
  })

  test('serves requests of session revisions without a session, where the option allows it', async () => {
    proves('H12e')
    const list = { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) }
    const strict = service().post(list)
    expect([strict.status, strict.json.error.code]).toEqual([400, -32000])
    const loose = await service({ sessionless: true }).post(list).answered()
    expect(loose.json.result.tools.length).toBeGreaterThan(0)
  })

  test('counts requests without a session, too, until they are answered', async () => {
    const { post, gate } = service({ sessionless: true, maxInFlight: 1 })
    const call = { name: 'wait', arguments: { word: 'x' } }
    const first = post({
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    })
    expect(post(speaking('tools/list')).status).toBe(503)
    gate('x').resolve()
    await first.answered()
    await new Promise(resolve => setImmediate(resolve))
    expect((await post(speaking('tools/list')).answered()).status).toBe(200)
  })

  test('can be closed twice', async () => {
    const { it, post, gate } = service()
    const waiting = post(speaking('tools/call', { name: 'wait', arguments: { word: 'x' } }))
    const closing = Promise.all([it.close(), it.close()])
    gate('x').resolve()
    expect((await waiting.answered()).status).toBe(200)
    await closing
    expect(post(opening).status).toBe(503)
  })
})

import { request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { HttpHandler } from '../../http/exchange.ts'
import { limits } from '../../util/limits/limits.ts'
import { type HealthReport, Ops, type OpsReply, type OpsRequest, withOps } from './health.ts'
import { listenOps, type OpsListener } from './ops-server.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

interface Asking {
  readonly method?: string
  readonly host?: string
  readonly origin?: string
  readonly site?: string
}

function requestOf(path: string, { method = 'GET', host, origin, site }: Asking = {}): OpsRequest {
  return {
    method,
    path,
    origin: () => ({
      hosts: [host ?? '127.0.0.1:9464'],
      origins: origin === undefined ? [] : [origin],
      target: path,
      site,
    }),
    local: () => ({ port: 9464, loopback: true }),
  }
}

function ask(
  ops: { handle(r: OpsRequest, a: OpsReply): void },
  path: string,
  asking?: Asking,
): Answer {
  const answers: Answer[] = []
  ops.handle(requestOf(path, asking), {
    send: (status, headers, body) => void answers.push({ status, headers, body }),
  })
  expect(answers).toHaveLength(1)
  return answers[0] as Answer
}

describe('/healthz, /readyz and /metrics', () => {
  it('report alive and ready by default', () => {
    const ops = new Ops()
    expect(ask(ops, '/healthz')).toMatchObject({ status: 200, body: '{"status":"alive"}\n' })
    expect(JSON.parse(ask(ops, '/readyz').body ?? '')).toEqual({
      status: 'ready',
      level: 'ok',
      servers: [],
    })
    expect(ask(ops, '/metrics').status).toBe(404)
  })

  it('report each server with its level, the reason and the next retry', () => {
    let level: HealthReport['level'] = 'degraded'
    const ops = new Ops({
      health: () => ({
        level,
        reason: 'one of two is down',
        servers: [
          ['files', { level: 'ok' }],
          [
            'search',
            {
              level: 'down',
              reason: 'connecting to http://ada:hunter2@a.test/?token=abc: refused',
              retryInMs: 1500.4,
              action: 'restart',
              password: 'hunter2',
            },
          ],
        ],
      }),
    })
    const { status, headers, body = '' } = ask(ops, '/readyz')
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    })
    expect(JSON.parse(body)).toEqual({
      status: 'ready',
      level: 'degraded',
      reason: 'one of two is down',
      servers: [
        { name: 'files', level: 'ok' },
        {
          name: 'search',
          level: 'down',
          reason: 'connecting to http://[redacted]@a.test/?token=[redacted] refused',
          retryInMs: 1500,
          action: 'restart',
        },
      ],
    })
    expect(body).not.toContain('hunter2')
    level = 'down'
    expect(ask(ops, '/readyz')).toMatchObject({
      status: 503,
      body: expect.stringContaining('"not ready"'),
    })
    expect(ask(ops, '/healthz').status).toBe(200)
  })

  it('return the metrics as Prometheus text', () => {
    const ops = new Ops({ metrics: () => 'a 1\n' })
    expect(ask(ops, '/metrics')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: 'a 1\n',
    })
    expect(ask(ops, '/metrics', { method: 'HEAD' })).toMatchObject({ status: 200, body: undefined })
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'get'])('refuse %s', method => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect(ask(new Ops(), path, { method })).toMatchObject({
        status: 405,
        headers: { allow: 'GET, HEAD' },
      })
    }
  })

  it.each([
    ['another host', { host: 'evil.test' }],
    ['a page of another origin', { origin: 'https://evil.test' }],
    ['a page of another site', { site: 'cross-site' }],
  ])('refuse %s', (_, asking) => {
    const metrics = vi.fn(() => 'a 1\n')
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect(ask(new Ops({ metrics }), path, asking).status).toBe(403)
    }
    expect(metrics).not.toHaveBeenCalled()
  })

  it('accept the allowed hosts and origins', () => {
    const ops = new Ops({ allowedHosts: ['ops.test'], allowedOrigins: ['https://app.test'] })
    expect(ask(ops, '/healthz', { host: 'ops.test', origin: 'https://app.test' }).status).toBe(200)
  })

  it('return 500 without details when health or metrics fail', () => {
    const failure = new Error('the password is 123')
    const onError = vi.fn()
    const health = () => {
      throw failure
    }
    const { status, body } = ask(new Ops({ health, onError }), '/readyz')
    expect([status, body]).toEqual([500, '{"error":"Internal error"}\n'])
    expect(onError).toHaveBeenCalledWith(failure)
  })

  it('report not ready while closing', async () => {
    const ops = new Ops()
    await ops.close()
    expect(ask(ops, '/readyz')).toMatchObject({ status: 503 })
    expect(ask(ops, '/healthz')).toMatchObject({ status: 200 })
  })

  it('can share the address of a server, which gets all other requests', async () => {
    const close = vi.fn(async () => {})
    const main: HttpHandler = {
      handle: (_, reply) => reply.send(200, {}, 'main'),
      drain: async () => {},
      close,
    }
    const ops = new Ops()
    const both: HttpHandler = withOps(main, ops)
    // The check: what is looked at here is all that is there.
    const handler = both as unknown as Ops
    expect(ask(handler, '/mcp', { method: 'POST' }).body).toBe('main')
    expect(ask(handler, '/readyz').status).toBe(200)
    await both.close({ drainMs: 5 })
    expect(close).toHaveBeenCalledWith({ drainMs: 5 })
    expect(ask(handler, '/readyz').status).toBe(503)
  })
})

describe('a separate address', () => {
  const open: OpsListener[] = []
  afterEach(async () => {
    for (const listener of open.splice(0)) await listener.close()
  })
  const listening = async (ops = new Ops({ metrics: () => 'ä 1\n' })) => {
    const listener = await listenOps(ops, 'http://127.0.0.1:0')
    open.push(listener)
    return listener
  }

  it('serves these paths only, at the actual port', async () => {
    const { address } = await listening()
    const metrics = await fetch(`${address}/metrics?x=1`)
    expect([metrics.status, await metrics.text()]).toEqual([200, 'ä 1\n'])
    expect((await fetch(`${address}/mcp`)).status).toBe(404)
    expect((await fetch(`${address}/healthz`, { method: 'POST', body: 'x' })).status).toBe(405)
    expect((await fetch(`${address}/healthz`, { method: 'HEAD' })).status).toBe(200)
  })

  it('refuses another host name', async () => {
    const { address } = await listening()
    const status = await new Promise(resolve => {
      const options = { headers: { host: 'evil.test' } }
      const asking = request(`${address}/metrics`, options, reply => resolve(reply.statusCode))
      asking.end()
    })
    expect(status).toBe(403)
  })

  it('accepts a limited number of connections and closes further ones', async () => {
    const { address } = await listening()
    const most = limits.opsConnections.default
    const { hostname, port } = new URL(address)
    const sockets = Array.from({ length: most + 1 }, () => connect(Number(port), hostname))
    const closed = sockets.map(
      socket => new Promise<void>(resolve => socket.once('close', () => resolve())),
    )
    for (const socket of sockets) socket.on('error', () => {}).resume()
    await Promise.race(closed)
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
  })

  it.each(['https://127.0.0.1:0', 'tcp://127.0.0.1:0', 'nonsense'])(
    'must not be %s',
    async address => {
      await expect(listenOps(new Ops(), address)).rejects.toThrow('http://127.0.0.1:9464')
    },
  )

  it('that is in use rejects with the error of Node.js', async () => {
    const { address } = await listening()
    await expect(listenOps(new Ops(), address)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

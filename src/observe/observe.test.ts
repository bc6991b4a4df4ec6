import { expect, it, vi } from 'vitest'
import { answeringClient, stateless } from '../../test/support/answering-client.ts'
import { Server } from '../server/server.ts'
import { events } from './events.ts'
import type { LogStream } from './log/log.ts'
import { type Observable, observe } from './observe.ts'

function server() {
  const made = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  made.tool('echo', {}, () => 'hi')
  return made
}

function sink(): LogStream & { readonly lines: string[] } {
  const lines: string[] = []
  return { lines, write: text => lines.push(text) > 0, on: () => {}, off: () => {} }
}

it('observe turns metrics, logs and traces on, and close turns them off', async () => {
  const endpoint = server()
  const stream = sink()
  const observer = observe({
    endpoint,
    server: 'echo',
    logs: { level: 'debug', stream },
    traces: true,
  })
  await observer.ready
  const client = await answeringClient(endpoint, stateless)
  await client.request('tools/call', { name: 'echo' })
  const counted = 'trunkline_calls_total{server="echo",method="tools/call",outcome="ok"} 1'
  expect(observer.metricsText()).toContain(counted)
  expect(stream.lines.join('')).toContain('"method":"tools/call"')
  expect(observer.currentTrace()).toBeUndefined()
  await observer.close()
  await observer.close()
  expect(Object.values(events).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([])
  await client.request('tools/call', { name: 'echo' })
  expect(observer.metricsText()).toContain(counted)
})

it('a server that is observed twice counts its calls once in each', async () => {
  const endpoint = server()
  const observers = [observe({ endpoint }), observe({ endpoint })]
  const client = await answeringClient(endpoint, stateless)
  await client.request('tools/call', { name: 'echo' })
  for (const observer of observers) {
    expect(observer.metricsText()).toContain('method="tools/call",outcome="ok"} 1\n')
    await observer.close()
  }
})

it('an endpoint that publishes its own events gets no middleware', async () => {
  const use = vi.fn()
  const endpoint: Observable = { use, isObserved: true, health: () => ({ level: 'down' }) }
  const observer = observe({ endpoint, metrics: false })
  expect(use).not.toHaveBeenCalled()
  expect(observer.metricsText()).toBe('')
  expect([observer.registry, observer.log]).toEqual([undefined, undefined])
  const { address } = await observer.listen('http://127.0.0.1:0')
  expect((await fetch(`${address}/readyz`)).status).toBe(503)
  expect((await fetch(`${address}/metrics`)).status).toBe(404)
  await observer.close()
  await expect(fetch(`${address}/healthz`)).rejects.toThrow()
})

it('custom metrics and log lines are added to the others', async () => {
  const stream = sink()
  await using observer = observe({ logs: { stream } })
  const family = observer.registry?.number({
    name: 'shop_orders_total',
    type: 'counter',
    help: 'Orders.',
    labels: [],
  })
  if (family !== undefined) family.at().value += 1
  observer.log?.write('info', 'order taken', { id: 1, token: 'abc' })
  expect(observer.metricsText()).toContain('shop_orders_total 1\n')
  expect(JSON.parse(stream.lines[0] ?? '')).toMatchObject({
    event: 'order taken',
    token: '[redacted]',
  })
})

it('errors of health and metrics are logged', async () => {
  const stream = sink()
  const health = () => {
    throw new Error('no health')
  }
  await using observer = observe({ endpoint: { health }, logs: { stream } })
  const { address } = await observer.listen('http://127.0.0.1:0')
  expect((await fetch(`${address}/readyz`)).status).toBe(500)
  expect(JSON.parse(stream.lines[0] ?? '')).toMatchObject({ level: 'error', error: 'no health' })
})

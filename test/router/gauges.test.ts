import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../src/listen.ts'
import { collect } from '../../src/observe/metrics/collect.ts'
import { MetricRegistry } from '../../src/observe/metrics/registry.ts'
import { Server } from '../../src/server/server.ts'
import { caller, failureOf, routed } from './routed.ts'

/** The address of a server whose tool does not answer in time. */
async function silent(): Promise<string> {
  const server = new Server({ name: 'silent', version: '1' })
  server.tool('wait', {}, () => new Promise<never>(() => {}))
  const listener = await listen(server, 'tcp://127.0.0.1:0')
  onTestFinished(() => listener.close())
  return listener.address
}

/** Returns a function that reads one gauge, for as long as the test lasts. */
function gauge(name: string): () => readonly string[] {
  const registry = new MetricRegistry()
  onTestFinished(collect(registry))
  return () => {
    const lines = registry.text().split('\n')
    return lines.filter(line => line.startsWith(`trunkline_${name}{`))
  }
}

test('removed instances are no longer counted', async () => {
  const up = gauge('instances_up')
  const urls = await Promise.all([silent(), silent()])
  const router = await routed({ it: { urls } })
  expect(up()).toEqual(['trunkline_instances_up{server="it"} 2'])
  await router.update({ it: { urls: urls.slice(1) } })
  expect(up()).toEqual(['trunkline_instances_up{server="it"} 1'])
  await router.unregister('it')
  expect(up()).toEqual(['trunkline_instances_up{server="it"} 0'])
})

test('a breaker is not reported open after its instance is replaced', async () => {
  const state = gauge('breaker_state')
  const url = await silent()
  const options = { url, prefix: false, timeoutMs: 20, breaker: { failures: 1 } } as const
  const router = await routed({ it: options })
  const client = await caller(router)
  await failureOf(client.call('wait'))
  expect(state()).toEqual(['trunkline_breaker_state{server="it",instance="0"} 2'])
  await router.update({ it: { ...options, headers: { 'x-other': '1' } } })
  expect(router.server('it')?.instances).toMatchObject([{ breaker: 'closed' }])
  expect(state()).toEqual(['trunkline_breaker_state{server="it",instance="0"} 0'])
})

test('a breaker is not reported open after its options change', async () => {
  const state = gauge('breaker_state')
  const url = await silent()
  const options = { url, prefix: false, timeoutMs: 20, breaker: { failures: 1 } } as const
  const router = await routed({ it: options })
  await failureOf((await caller(router)).call('wait'))
  expect(state()).toEqual(['trunkline_breaker_state{server="it",instance="0"} 2'])
  await router.update({ it: { ...options, breaker: { failures: 2 } } })
  expect(state()).toEqual(['trunkline_breaker_state{server="it",instance="0"} 0'])
})

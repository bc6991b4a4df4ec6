import { expect, test } from 'vitest'
import type { RunCommand } from '../../remote/connection.ts'
import { streamChecks } from './engine-settings.ts'
import type { RawNats } from './raw-connection.ts'
import { natsSubjects } from './subjects.ts'

/** Returns how to run commands on an engine whose streams have a configuration. */
function engineWith(config: object): RunCommand<RawNats> {
  const raw: RawNats = {
    maxPayload: 9_000_000,
    hasJetStream: true,
    connect: async () => {},
    destroy: () => {},
    flush: async () => {},
    request: async () => JSON.stringify({ config }),
    publish: () => {},
    subscribe: () => () => {},
  }
  return command => command(raw)
}

test('streams with replicas are refused, because they cannot fence writes', async () => {
  const check = streamChecks(natsSubjects('c'), undefined)
  const config = { storage: 'file', discard: 'new', num_replicas: 3 }
  await expect(check(engineWith(config))).rejects.toThrow(
    'the stream "tl-documents-c" has 3 replicas',
  )
  await check(engineWith({ ...config, num_replicas: 1 }))
})

test('settings that endanger the data are reported once, with the stream', async () => {
  const warnings: string[] = []
  const check = streamChecks(natsSubjects('c'), ({ message }) => void warnings.push(message))
  for (const _ of [1, 2]) {
    await check(engineWith({ storage: 'memory', discard: 'old', num_replicas: 1 }))
  }
  expect(warnings).toHaveLength(4)
  expect(warnings[0]).toBe(
    'the stream "tl-documents-c" is lost when the engine restarts; use file storage',
  )
  expect(warnings[3]).toContain('"tl-logs-c" deletes data by itself')
})

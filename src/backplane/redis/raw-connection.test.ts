import { createClient } from '@redis/client'
import { expect, test } from 'vitest'
import { spent } from '../../../test/fuzz/cost.ts'
import { loadRedis } from './raw-connection.ts'

test('connections to many engines share the commands of the client, which take long to define', async () => {
  const dial = await loadRedis()
  const ports = Array.from({ length: 50 }, (_, at) => at + 1)
  const defining = spent(() => createClient({ url: 'redis://127.0.0.1:60000' }))
  const dialing = spent(() => {
    for (const port of ports) dial(`redis://127.0.0.1:${port}`)(() => {})
  })
  expect(dialing).toBeLessThan(10 * defining)
})

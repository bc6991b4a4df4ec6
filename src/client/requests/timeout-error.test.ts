import { expect, test } from 'vitest'
import { connect } from '../../connect.ts'
import { Server } from '../../server/server.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { deferred } from '../../util/promises.ts'

test.each([
  ['on the fast path', {}],
  ['with progress', { onProgress: () => {} }],
])('a timeout names the tool and the time: %s', async (_, options) => {
  const clock = fakeClock()
  const called = deferred<void>()
  await using server = new Server({ name: 'a', version: '1' })
  server.tool('hang', {}, () => {
    called.resolve()
    return new Promise<string>(() => {})
  })
  await using client = await connect(server, { clock })
  const failing = client.call('hang', {}, { timeoutMs: 300, ...options }).catch(error => error)
  await called.promise
  clock.advance(1000)
  expect(await failing).toMatchObject({
    code: 'timeout',
    message: 'tools/call "hang": no response within 300 ms',
  })
})

test('an unknown revision is answered with those there are', async () => {
  await using server = new Server({ name: 'a', version: '1' })
  const all = '2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28'
  // @ts-expect-error there is no such revision
  const opening = connect(server, { revisions: ['2025-11-26'] })
  await expect(opening).rejects.toThrow(`unknown revision "2025-11-26"; the revisions are ${all}`)
})

test('a client without a version in common says what both sides support', async () => {
  await using server = new Server({ name: 'a', version: '1' }, { revisions: ['2024-11-05'] })
  await expect(connect(server, { revisions: ['2026-07-28'] })).rejects.toThrow(
    /no protocol version in common: the server supports .*2024-11-05.*; this client supports 2026-07-28/,
  )
})

import { expect, test } from 'vitest'
import { nats } from './nats.ts'

test('mistakes in the options are reported at once', () => {
  const url = 'nats://127.0.0.1:4222'
  expect(() => nats('redis://127.0.0.1')).toThrow(TypeError)
  expect(() => nats(url, { cluster: 'a b' })).toThrow('option "cluster"')
  expect(() => nats(url, { clusster: 'a' } as object)).toThrow('clusster')
})

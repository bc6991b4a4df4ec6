import { expect, test } from 'vitest'
import { RawJson, RawRequest } from './codec/raw-json.ts'
import { requestCost } from './request-cost.ts'

test('a request with a short text is not looked at', () => {
  const params = { text: 'x'.repeat(9000) }
  expect(requestCost({ type: 'request', id: 1, method: 'x', params }, 1000)).toBe(2048)
  expect(requestCost({ type: 'request', id: 1, method: 'x', params })).toBeGreaterThan(11_000)
  expect(requestCost({ type: 'request', id: 1, method: 'x' })).toBe(2048)
})

test('raw JSON counts as text', () => {
  const raw = { arguments: new RawJson(`[${'[],'.repeat(1000)}[]]`) }
  const found = requestCost(new RawRequest(1, 'x', raw)) - 2048
  expect(found).toBeGreaterThan(3000)
  expect(found).toBeLessThan(3200)
})

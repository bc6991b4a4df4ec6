import { afterEach, expect, test, vi } from 'vitest'
import { printError } from './options.ts'

afterEach(() => void vi.restoreAllMocks())

test.each([
  [{ name: 'big' }, 'trunkline: tools/call "big" failed:'],
  [undefined, 'trunkline: tools/call failed:'],
])('the default error handler names what failed: %j', (params, words) => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const error = new TypeError('Do not know how to serialize a BigInt')
  printError(error, { type: 'request', id: 1, method: 'tools/call', params })
  expect(printed).toHaveBeenCalledWith(words, error)
})

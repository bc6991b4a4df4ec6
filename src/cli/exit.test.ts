import { expect, test } from 'vitest'
import { ChannelError } from '../jsonrpc/channel.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { ConfigError } from '../router/config/issue.ts'
import { exitNameOf, Interrupted, UsageError, withUsageErrors } from './exit.ts'

test.each([
  [new UsageError('x'), 'usage'],
  [new ConfigError([]), 'usage'],
  [new RpcError(-32601, 'x'), 'failed'],
  [new ChannelError('timeout', 'x'), 'timeout'],
  [new ChannelError('refused', 'x'), 'unreachable'],
  [new ChannelError('closed', 'x'), 'unreachable'],
  [new ChannelError('outcome-unknown', 'x'), 'unreachable'],
  [new ChannelError('framing', 'x'), 'failed'],
  [new Interrupted(), 'interrupted'],
  [new Error('x'), 'failed'],
  ['x', 'failed'],
])('%s ends the program as %s', (error, expected) => {
  expect(exitNameOf(error)).toBe(expected)
})

test('a TypeError of the library becomes a UsageError', async () => {
  const wrong = withUsageErrors(() => {
    throw new TypeError('no such option')
  })
  await expect(wrong).rejects.toThrow(UsageError)
  await expect(withUsageErrors(() => Promise.reject(new Error('else')))).rejects.not.toThrow(
    UsageError,
  )
  expect(await withUsageErrors(() => 5)).toBe(5)
})

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { RpcRequest, RpcResult } from '../message.ts'
import { decode } from './decode.ts'
import { detached, interned } from './detach.ts'
import { rawShape } from './raw-json.ts'

const texts = [
  '',
  'a',
  'tools/call',
  'é'.repeat(20),
  '\ud83d',
  'a-name-of-some-length',
  'x'.repeat(1000),
]

test.each([
  ['own', detached],
  ['known', interned],
])('is the same text: %s', (_, made) => {
  for (const text of texts)
    for (const around of ['', 'before']) {
      expect(made(`${around}${text}`.slice(around.length))).toBe(text)
    }
})

describe('does not keep alive the text that it was cut out of', () => {
  const options = {
    rawResults: rawShape({ resultType: 'scalar', content: 'array' }),
    rawCalls: new Map([['tools/call', rawShape({ name: 'scalar', arguments: 'object' })]]),
  }
  const request = (text: string) => decode(text, options) as RpcRequest
  const result = (text: string) => decode(text, options) as RpcResult
  const long = (n: number) => `a-name-of-some-length-${n}`

  test.each<[string, (n: number) => string, (text: string) => unknown]>([
    ['an id', n => `{"jsonrpc":"2.0","id":"${long(n)}","method":"m"}`, text => request(text).id],
    [
      'an id that stands behind',
      n => `{"method":"m","jsonrpc":"2.0","id":"${long(n)}"}`,
      text => request(text).id,
    ],
    [
      'an id that stands elsewhere',
      n => `{"id":"${long(n)}","method":"m","jsonrpc":"2.0"}`,
      text => request(text).id,
    ],
    ['a method', n => `{"jsonrpc":"2.0","method":"${long(n)}"}`, text => request(text).method],
    [
      'a method that stands elsewhere',
      n => `{"method":"${long(n)}","id":1,"jsonrpc":"2.0"}`,
      text => request(text).method,
    ],
    [
      'the name of a tool',
      n =>
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${long(n)}","arguments":{}}}`,
      text => request(text).raw?.name,
    ],
    [
      'a scalar of a result',
      n => `{"jsonrpc":"2.0","id":1,"result":{"resultType":"${long(n)}","content":[]}}`,
      text => result(text).raw?.resultType,
    ],
  ])('%s', (_, message, part) => {
    const count = 200
    const padding = 65_536
    const parts: unknown[] = []
    const before = heapBytes()
    for (let n = 0; n < count; n++) {
      const said = message(n)
      const chunk = Buffer.from(`${said}${' '.repeat(padding)}`).toString('latin1')
      parts.push(part(chunk.slice(0, said.length)))
    }
    expect(heapBytes() - before).toBeLessThan((count * padding) / 4)
    expect(parts.map((_, n) => long(n))).toEqual(parts)
  })
})

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  // Without what is outside of it, where the buffers above may wait long to be swept away.
  return process.memoryUsage().heapUsed
}

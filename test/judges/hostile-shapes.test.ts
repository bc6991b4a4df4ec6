import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cuts, type Raw, rawTcp } from './raw.ts'

const MiB = 1024 * 1024
const size = 4 * MiB

/** Repeats a text up to four mebibytes. */
function fill(item: (i: number) => string, between = ''): string {
  const parts: string[] = []
  for (let i = 0, length = 0; length < size; i++) {
    const part = item(i)
    parts.push(part)
    length += part.length + between.length
  }
  return parts.join(between)
}

const call = (rest: string) => `{"jsonrpc":"2.0","id":1,"method":"ping",${rest}}`
const half = size / 2

/** The most expensive shapes for a parser, four mebibytes each, and their responses. */
const shapes: readonly { readonly name: string; readonly text: string; readonly code?: number }[] =
  [
    { name: 'nested arrays', text: '['.repeat(half) + ']'.repeat(half), code: -32_600 },
    {
      name: 'nested arrays as params',
      text: call(`"params":${'['.repeat(half) + ']'.repeat(half)}`),
      code: -32_600,
    },
    { name: 'nested objects', text: fill(() => '{"a":'), code: -32_600 },
    {
      name: 'nested objects as params',
      text: call(`"params":${fill(() => '{"a":')}`),
      code: -32_600,
    },
    { name: 'a batch of empty objects', text: `[${fill(() => '{}', ',')}]`, code: -32_600 },
    { name: 'a batch of numbers', text: `[${fill(() => '1', ',')}]`, code: -32_600 },
    {
      name: 'objects of one key each',
      text: call(`"params":[${fill(i => `{"k${i}":${i}}`, ',')}]`),
      code: -32_600,
    },
    {
      name: 'one object with a key for every value, as params',
      text: call(`"params":{${fill(i => `"k${i}":${i}`, ',')}}`),
      code: -32_600,
    },
    {
      name: 'one object with a key for every value, as the message',
      text: call(fill(i => `"k${i}":${i}`, ',')),
      code: -32_600,
    },
    {
      name: 'the same member again and again',
      text: call(fill(() => '"id":1', ',')),
      code: -32_600,
    },
    { name: 'numbers as params', text: call(`"params":[${fill(() => '1', ',')}]`), code: -32_600 },
    {
      name: 'empty texts as params',
      text: call(`"params":[${fill(() => '""', ',')}]`),
      code: -32_600,
    },
    { name: 'commas as params', text: call(`"params":[${','.repeat(size)}]`), code: -32_600 },
    {
      name: 'one number as id',
      text: call('"x":1').replace(':1,', `:${'1'.repeat(size)},`),
      code: -32_600,
    },
    {
      name: 'one text as id',
      text: call('"x":1').replace(':1,', `:"${'x'.repeat(size)}",`),
      code: -32_600,
    },
    {
      name: 'one text as method',
      text: call('"x":1').replace('ping', 'p'.repeat(size)),
      code: -32_600,
    },
    {
      name: 'one text that does not end',
      text: call(`"params":["${'x'.repeat(size)}`),
      code: -32_700,
    },
    { name: 'blanks', text: ' '.repeat(size), code: -32_700 },
    { name: 'quotes', text: '"'.repeat(size), code: -32_700 },
    { name: 'backslashes', text: call(`"params":["${'\\'.repeat(size + 1)}"]`), code: -32_700 },
    { name: 'one text', text: call(`"params":["${'x'.repeat(size)}"]`) },
    { name: 'one number', text: call(`"params":[${'1'.repeat(size)}]`) },
    { name: 'escapes', text: call(`"params":["${fill(() => '\\u0061')}"]`) },
    { name: 'escaped quotes', text: call(`"params":["${fill(() => '\\"')}"]`) },
    { name: 'one key', text: call(`"${'k'.repeat(size)}":1`) },
    { name: 'blanks between two members', text: call(`${' '.repeat(size)}"x":1`) },
  ]

const ping = (id: number | string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}`

interface Answer {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number }
}

async function next(raw: Raw): Promise<Answer> {
  return JSON.parse(await raw.next()) as Answer
}

interface Memory {
  readonly heap: number
  readonly peak: number
}

async function memory(raw: Raw): Promise<Memory> {
  raw.send('{"jsonrpc":"2.0","id":"memory","method":"memory"}')
  const { result } = await next(raw)
  return result as Memory
}

describe('a server that gets four mebibytes of', () => {
  let child: ChildProcessByStdio<Writable, Readable, null>
  let raw: Raw
  let other: Raw
  let before: Memory
  beforeAll(async () => {
    const file = fileURLToPath(new URL('shape-server.js', import.meta.url))
    child = spawn(process.execPath, ['--expose-gc', file], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const address = line.toString().trim()
    raw = await rawTcp(address, cuts.length)
    other = await rawTcp(address, cuts.length)
    // The memory for a valid text of four mebibytes is the reference.
    raw.send(call(`"params":["${'x'.repeat(size)}"]`))
    await next(raw)
    before = await memory(raw)
  })
  afterAll(async () => {
    raw.close()
    other.close()
    child.stdin.end()
    await once(child, 'exit')
  })

  it.each(shapes)('$name answers it, and others in the meantime', async ({ text, code }) => {
    let answer: Answer | undefined
    raw.send(text)
    const answered = next(raw).then(found => {
      answer = found
    })
    for (let i = 0; i === 0 || answer === undefined; i++) {
      other.send(ping(i))
      expect(await next(other)).toEqual({ jsonrpc: '2.0', id: i, result: 'pong' })
    }
    await answered
    if (code === undefined) expect(answer).toEqual({ jsonrpc: '2.0', id: 1, result: 'pong' })
    else expect(answer?.error?.code).toBe(code)
    raw.send(ping('after'))
    expect(await next(raw)).toEqual({ jsonrpc: '2.0', id: 'after', result: 'pong' })
    const { heap } = await memory(raw)
    // Not even the text stays in memory.
    expect(heap - before.heap).toBeLessThan(size / 2)
  })

  it('all of these never needed much more memory than one text of that size', async () => {
    const { peak } = await memory(raw)
    expect(peak - before.peak).toBeLessThan(64 * MiB)
  })
})

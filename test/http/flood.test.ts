import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Asking, type Reply, Wire, written } from './raw.ts'
import { calling, inSession, opening, speaking } from './requests.ts'

const MiB = 1024 * 1024
const size = 4 * MiB

/** Returns as many items as fit into four mebibytes, with room for the text around them. */
function fill(item: (i: number) => string, between = ','): string {
  const parts: string[] = []
  for (let i = 0, length = 200; length < size; i++) {
    const part = item(i)
    length += part.length + between.length
    if (length < size) parts.push(part)
  }
  return parts.join(between)
}

const call = (rest: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/list",${rest}}`
const half = size / 2 - 100

/** Bodies within the byte limit that cost a naive parser the most, with the error code of each. */
const bodies: readonly (readonly [name: string, body: string, code: number])[] = [
  [
    'a batch of 101 requests',
    `[${call('"params":{}').concat(',').repeat(101).slice(0, -1)}]`,
    -32600,
  ],
  ['a batch of a million empty objects', `[${'{},'.repeat(999_999)}{}]`, -32600],
  ['a batch of numbers', `[${fill(() => '1')}]`, -32600],
  ['nested arrays', '['.repeat(half) + ']'.repeat(half), -32600],
  ['arrays that do not end', '['.repeat(size), -32600],
  [
    'nested arrays in params',
    call(`"params":{"a":${'['.repeat(half) + ']'.repeat(half)}}`),
    -32600,
  ],
  ['nested objects in params', call(`"params":{"a":${fill(() => '{"a":', '')}`), -32600],
  ['objects of one key each', call(`"params":{"a":[${fill(i => `{"k${i}":${i}}`)}]}`), -32600],
  ['one object with very many keys', call(`"params":{${fill(i => `"k${i}":${i}`)}}`), -32600],
  ['very many members', call(fill(i => `"k${i}":${i}`)), -32600],
  ['the same member again and again', call(fill(() => '"id":1')), -32600],
  ['numbers in params', call(`"params":{"a":[${fill(() => '1')}]}`), -32600],
  ['empty texts in params', call(`"params":{"a":[${fill(() => '""')}]}`), -32600],
  ['commas', call(`"params":[${','.repeat(size - 200)}]`), -32600],
  ['one text as the id', `{"jsonrpc":"2.0","id":"${'x'.repeat(size - 200)}","method":"x"}`, -32600],
  ['one number as the id', `{"jsonrpc":"2.0","id":${'1'.repeat(size - 200)},"method":"x"}`, -32600],
  [
    'one text as the method',
    `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(size - 200)}"}`,
    -32600,
  ],
  ['one text that does not end', call(`"params":{"a":"${'x'.repeat(size - 200)}`), -32700],
  ['quotes', '"'.repeat(size), -32700],
  ['backslashes', call(`"params":{"a":"${'\\'.repeat(size - 201)}"}`), -32700],
  ['blanks', ' '.repeat(size), -32700],
]

interface Memory {
  /** The memory in use after a garbage collection, in bytes. */
  readonly held: number
  /** The peak memory of the process, in bytes. */
  readonly peak: number
}

let child: ChildProcessByStdio<Writable, Readable, null>
let port = 0

beforeAll(async () => {
  const file = fileURLToPath(new URL('flood-server.js', import.meta.url))
  // A cgroup with a memory limit needs privileges that not every user has; a small heap and the peak memory
  // show the same.
  const flags = ['--expose-gc', '--max-old-space-size=128']
  child = spawn(process.execPath, [...flags, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  port = Number(new URL(line.toString().trim()).port)
})
afterAll(async () => {
  child.stdin.end()
  if (child.exitCode === null) await once(child, 'exit')
})

async function asked(wire: Wire, asking: Asking): Promise<Reply> {
  return wire.send(written(port, asking)).reply()
}

async function memory(): Promise<Memory> {
  const wire = await Wire.open(port)
  const { json } = await asked(wire, calling('memory'))
  wire.cut()
  return JSON.parse(json.result.content[0].text) as Memory
}

/** Another client, which makes sequential calls until it is stopped. */
function meanwhile(): { stop(): Promise<{ readonly waits: readonly number[] }> } {
  let isOver = false
  const working = (async () => {
    const waits: number[] = []
    const wire = await Wire.open(port)
    for (let i = 0; i === 0 || !isOver; i++) {
      const began = performance.now()
      const { status, json } = await asked(wire, calling('echo', { word: `w${i}` }, { id: i }))
      expect([status, json.id, json.result.content[0].text]).toEqual([200, i, `w${i}`])
      waits.push(performance.now() - began)
    }
    wire.cut()
    return { waits }
  })()
  return {
    stop: () => {
      isOver = true
      return working
    },
  }
}

/** Sends all bodies, four at a time, and returns how long each took. */
async function flood(): Promise<number[]> {
  const took: number[] = []
  const { headers } = speaking('tools/list')
  await Promise.all(
    [0, 1, 2, 3].map(async row => {
      for (let i = row; i < bodies.length; i += 4) {
        const [, body = '', code = 0] = bodies[i] ?? []
        const wire = await Wire.open(port)
        const began = performance.now()
        const reply = await asked(wire, { headers, body })
        took.push(performance.now() - began)
        expect(reply.json.error.code).toBe(code)
        wire.cut()
      }
    }),
  )
  return took
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

describe('SEC-08, SEC-09: a worst-case body within the limit', () => {
  let before: Memory
  beforeAll(async () => {
    // Memory allocated once for this concurrency is reused for the next bodies; it must not grow.
    await flood()
    before = await memory()
  })

  test.each(bodies)(
    '%s: is rejected, and other requests get responses meanwhile',
    async (_, body, code) => {
      expect(body.length).toBeLessThanOrEqual(size)
      const session = await opened()
      for (const headers of [speaking('tools/list').headers, { 'mcp-session-id': session }]) {
        const other = meanwhile()
        const wire = await Wire.open(port)
        const reply = await asked(wire, { headers, body })
        expect([reply.status, reply.json.error.code]).toEqual([400, code])
        const { waits } = await other.stop()
        expect(waits.length).toBeGreaterThan(0)
        wire.cut()
      }
    },
  )

  test('many at once do not block other requests', async () => {
    const other = meanwhile()
    const began = performance.now()
    const took = await flood()
    const total = performance.now() - began
    const { waits } = await other.stop()
    // Each request waits for a few bodies at most, never for all, and most wait for less than one.
    expect(median(waits)).toBeLessThan(median(took))
    expect(Math.max(...waits)).toBeLessThan(total / 2)
  })

  test('leaks no memory, and keeps the peak low', async () => {
    const after = await memory()
    expect(after.held - before.held).toBeLessThan(4 * MiB)
    // Sixty leaked bodies would be 240 mebibytes; the momentary use varies with garbage collection.
    expect(after.peak - before.peak).toBeLessThan(48 * MiB)
    expect(after.peak).toBeLessThan(256 * MiB)
    expect(child.exitCode).toBeNull()
  })
})

async function opened(): Promise<string> {
  const wire = await Wire.open(port)
  const id = (await asked(wire, opening())).headers.get('mcp-session-id') ?? ''
  await asked(wire, inSession(id, 'notifications/initialized'))
  wire.cut()
  return id
}

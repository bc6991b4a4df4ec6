import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Asking, type Reply, Wire, written } from './raw.ts'
import { calling, inSession, opening, speaking } from './requests.ts'

const MiB = 1024 * 1024
const size = 4 * MiB

/** As many of something as fit into four mebibytes, with what stands around it. */
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

/** Bodies within the limit of bytes that cost a careless reader the most, and how each is refused. */
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
  /** What is in use after a collection. */
  readonly held: number
  /** The most that the process has ever taken from the machine. */
  readonly peak: number
}

let child: ChildProcessByStdio<Writable, Readable, null>
let port = 0

beforeAll(async () => {
  const file = fileURLToPath(new URL('flood-server.js', import.meta.url))
  // A group with little memory of its own needs rights that not everybody has; a small heap, and a look at
  // the most that was ever taken, tell the same.
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

/** Another caller, who calls one time after the other until it is stopped. */
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

/** Sends all of them, four at a time, and gives how long each took. */
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

describe('SEC-08, SEC-09: a body that is within the limit, and of the worst kind', () => {
  let before: Memory
  beforeAll(async () => {
    // What was taken once for so many at a time is kept for the next ones; it must not become more.
    await flood()
    before = await memory()
  })

  test.each(bodies)('%s: is rejected, and others are answered meanwhile', async (_, body, code) => {
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
  })

  test('many at once do not block other requests', async () => {
    const other = meanwhile()
    const began = performance.now()
    const took = await flood()
    const total = performance.now() - began
    const { waits } = await other.stop()
    // Each waits for a few bodies at most, never for the lot, and most of them for less than one.
    expect(median(waits)).toBeLessThan(median(took))
    expect(Math.max(...waits)).toBeLessThan(total / 2)
  })

  test('leaves no memory behind, and never took much', async () => {
    const after = await memory()
    expect(after.held - before.held).toBeLessThan(4 * MiB)
    // Sixty bodies that stayed would be 240 mebibytes; what is taken at a time varies with the collections.
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

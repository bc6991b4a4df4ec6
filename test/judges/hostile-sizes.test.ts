import { describe, expect, it, onTestFinished } from 'vitest'
import type { DecodeOptions } from '../../src/jsonrpc/codec/decode.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import { listenSocket } from '../../src/transport/socket/socket.ts'
import type { FramingName } from '../../src/wire/frame.ts'
import { type Cut, cuts, type Raw, rawTcp } from './raw.ts'
import { type Wire, wires } from './wires.ts'

const maxBytes = 1000
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const pong = '{"jsonrpc":"2.0","id":1,"result":"pong"}'
const refusal = {
  jsonrpc: '2.0',
  id: null,
  error: {
    code: -32_012,
    message: 'Message size exceeds maximum allowed',
    data: { maxSize: maxBytes, unit: 'bytes' },
  },
}

async function open(wire: Wire, decode: DecodeOptions): Promise<() => Promise<Raw>> {
  const served = await wire.serve(
    channel => new Peer(channel, { ping: () => 'pong' }, { onError: () => {} }),
    decode,
  )
  onTestFinished(() => served.end())
  return async () => {
    const raw = await served.connect()
    onTestFinished(() => raw.close())
    return raw
  }
}

/** A ping of this many bytes, most of them spaces. */
function padded(bytes: number, filler = ' '): string {
  const head = '{"jsonrpc":"2.0","id":1,"method":"ping","x":"'
  const count = (bytes - head.length - 2) / Buffer.byteLength(filler)
  return `${head}${filler.repeat(count)}"}`
}

describe.each(wires)('a server over $name with a limit of 1000 bytes', wire => {
  it('accepts a message of 1000 bytes', async () => {
    const raw = await (await open(wire, { maxBytes }))()
    for (const text of [padded(1000), padded(999, 'é'), padded(999, '😀')]) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
      raw.send(text)
      expect(await raw.next()).toBe(pong)
    }
  })

  const large = [
    { name: '1001 bytes', text: padded(1001) },
    { name: '1003 bytes in fewer characters', text: padded(1003, 'é') },
    { name: 'a million bytes', text: padded(1_000_000) },
    { name: 'a million bytes that are not JSON', text: 'x'.repeat(1_000_000) },
  ]
  it.each(large)('rejects $name, and other connections stay open', async ({ text }) => {
    const connect = await open(wire, { maxBytes })
    const [raw, other] = [await connect(), await connect()]
    raw.send(text)
    expect(JSON.parse(await raw.next())).toEqual(refusal)
    // A byte stream is closed: the next bytes may not be the start of a message.
    if (wire.name !== 'nothing but the codec') {
      expect(await raw.ended).toBe(wire.name === 'WebSocket' ? 1009 : undefined)
    }
    other.send(ping)
    expect(await other.next()).toBe(pong)
  })
})

/** Sends raw bytes, and reads frames normally. */
function unframed(framing: FramingName): Cut {
  return { frame: bytes => bytes, first: cuts[framing].first }
}

async function bare(framing: FramingName, calls: string[]): Promise<() => Promise<Raw>> {
  const mark = (word: string) => void calls.push(word)
  const listener = await listenSocket(
    { host: '127.0.0.1', port: 0 },
    { framing, decode: { maxBytes } },
    channel => new Peer(channel, { ping: () => 'pong', mark }, { onError: () => {} }),
  )
  onTestFinished(() => listener.close())
  return async () => {
    const raw = await rawTcp(listener.address, unframed(framing))
    onTestFinished(() => raw.close())
    return raw
  }
}

function prefix(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  return bytes
}

const parseError = { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } }

const announcements: readonly {
  readonly name: string
  readonly framing: FramingName
  readonly bytes: Uint8Array
  readonly answer: unknown
}[] = [
  ...[1001, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff].map(length => ({
    name: `a length of ${length} and nothing else`,
    framing: 'length' as const,
    bytes: prefix(length),
    answer: refusal,
  })),
  ...['1001', '4294967296'].map(length => ({
    name: `a Content-Length of ${length} and nothing else`,
    framing: 'headers' as const,
    bytes: Buffer.from(`Content-Length: ${length}\r\n\r\n`),
    answer: refusal,
  })),
  ...[
    'Content-Length: -1\r\n\r\n',
    'Content-Length: 9007199254740993\r\n\r\n',
    `Content-Length: ${'1'.repeat(300)}\r\n\r\n`,
    'Content-Length: 1e3\r\n\r\n',
    'Content-Length: 0x10\r\n\r\n',
    'Content-Length: \r\n\r\n',
    'Content-Length: 40\r\nContent-Length: 41\r\n\r\n',
    'Content-Type: application/json\r\n\r\n',
    'no header at all\r\n\r\n',
  ].map(block => ({
    name: `the headers ${JSON.stringify(block.slice(0, 50))}`,
    framing: 'headers' as const,
    bytes: Buffer.from(block),
    answer: parseError,
  })),
  {
    name: 'ten thousand bytes of headers',
    framing: 'headers',
    bytes: Buffer.from(`X: ${'x'.repeat(10_000)}`),
    answer: parseError,
  },
  {
    name: 'a line that does not end',
    framing: 'lines',
    bytes: Buffer.from('x'.repeat(5000)),
    answer: refusal,
  },
]

describe('a connection', () => {
  it.each(announcements)('is answered and closed after $name', async row => {
    const connect = await bare(row.framing, [])
    const [raw, other] = [await connect(), await connect()]
    raw.send(row.bytes)
    expect(JSON.parse(await raw.next())).toEqual(row.answer)
    await raw.ended
    other.send(cuts[row.framing].frame(Buffer.from(ping)))
    expect(await other.next()).toBe(pong)
  })

  const mark = '{"jsonrpc":"2.0","method":"mark","params":["dispatched"]}'
  const halves: readonly { readonly framing: FramingName; readonly bytes: Uint8Array }[] = [
    { framing: 'lines', bytes: Buffer.from(mark) },
    { framing: 'length', bytes: cuts.length.frame(Buffer.from(mark)).subarray(0, -1) },
    { framing: 'headers', bytes: cuts.headers.frame(Buffer.from(mark)).subarray(0, -1) },
  ]
  it.each(halves)('that ends inside a frame of $framing has not sent it', async row => {
    const calls: string[] = []
    const connect = await bare(row.framing, calls)
    const [raw, other] = [await connect(), await connect()]
    raw.send(row.bytes)
    raw.end()
    await raw.ended
    other.send(cuts[row.framing].frame(Buffer.from(ping)))
    expect(await other.next()).toBe(pong)
    expect(calls).toEqual([])
  })
})

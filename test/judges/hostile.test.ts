import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decode } from '../../src/jsonrpc/codec/decode.ts'
import { methodNotFound } from '../../src/jsonrpc/error.ts'
import type { Handler } from '../../src/jsonrpc/handler.ts'
import type { Decoded } from '../../src/jsonrpc/message.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import type { HostileInput, Reply } from './hostile-input.ts'
import { hostileInputs } from './hostile-inputs.ts'
import type { Raw } from './raw.ts'
import { bytewise, type Served, type Wire, wires } from './wires.ts'

function finding(decoded: Decoded): string {
  return decoded.type === 'invalid' ? decoded.reason : decoded.type
}

describe('the decoder', () => {
  it.each(hostileInputs)('decodes "$name" as expected', ({ input, found, reply }) => {
    const decoded = decode(input)
    expect(finding(decoded)).toBe(found)
    if (decoded.type !== 'invalid') return
    expect(decoded.reply ?? false).toBe(reply === undefined)
    if (reply === undefined) return
    const id = typeof decoded.id === 'bigint' ? `${decoded.id}` : JSON.stringify(decoded.id)
    expect({ id, code: decoded.error.code }).toEqual(reply)
  })

  const texts = hostileInputs.filter(
    ({ input }) => typeof input === 'string' && input.length < 2000,
  )
  it.each(texts)('decodes the text and the bytes of "$name" alike', ({ input }) => {
    expect(decode(Buffer.from(input))).toEqual(decode(input))
  })

  it('rejects the null id if configured', () => {
    const text = '{"jsonrpc":"2.0","id":null,"method":"ping"}'
    expect(decode(text)).toMatchObject({ type: 'request', id: null })
    const refusal = { type: 'invalid', reason: 'id', id: null, error: { code: -32_600 } }
    expect(decode(text, { nullIds: false })).toMatchObject(refusal)
    expect(decode(`[${text}]`, { nullIds: false })).toMatchObject({ entries: [refusal] })
  })
})

const handler: Handler = ({ method, params }) => {
  if (method === 'ping') return 'pong'
  if (method === 'echo') return params ?? []
  throw methodNotFound(method)
}

const messages = new Map([
  [-32_700, 'Parse error'],
  [-32_600, 'Invalid Request'],
  [-32_601, 'Method not found'],
])

/** The exact text of a reply, so that nothing is rounded, added or left out. */
function textOf({ id, code, result }: Reply): string {
  const outcome =
    code === undefined
      ? `"result":${result}`
      : `"error":{"code":${code},"message":"${messages.get(code)}"}`
  return `{"jsonrpc":"2.0","id":${id},${outcome}}`
}

function isList(reply: Reply | readonly Reply[]): reply is readonly Reply[] {
  return Array.isArray(reply)
}

/**
 * The expected response on this transport. An empty frame is no message where frames have a delimiter.
 */
function expected({ reply, input }: HostileInput, { framing }: Wire): string | undefined {
  const isBlank = framing === 'lines' && /^[ \t\r]*$/.test(Buffer.from(input).toString())
  if (reply === undefined || isBlank || (input.length === 0 && framing !== undefined)) {
    return undefined
  }
  return isList(reply) ? `[${reply.map(textOf).join(',')}]` : textOf(reply)
}

/** The inputs that a transport can carry: a line cannot contain a line feed. */
function carried({ framing }: Wire): readonly HostileInput[] {
  if (framing !== 'lines') return hostileInputs
  return hostileInputs.filter(({ input }) => !Buffer.from(input).includes('\n'))
}

const marker = '{"jsonrpc":"2.0","id":"marker","method":"ping"}'
const markerReply = textOf({ id: '"marker"', result: '"pong"' })

async function answers(raw: Raw, input: string | Uint8Array): Promise<string | undefined> {
  raw.send(input)
  raw.send(marker)
  const first = await raw.next()
  if (first === markerReply) return undefined
  expect(await raw.next()).toBe(markerReply)
  return first
}

const rows = [
  ...wires.map(wire => ({ wire, name: wire.name, inputs: carried(wire) })),
  {
    wire: bytewise,
    name: bytewise.name,
    inputs: carried(bytewise).filter(({ input }) => input.length < 2000),
  },
]

/** Invalid UTF-8 is no text, and WebSocket itself closes a connection for that. */
function isFatal(input: HostileInput, wire: Wire): boolean {
  return wire.name === 'WebSocket' && input.found === 'encoding'
}

function serve(wire: Wire): Promise<Served> {
  return wire.serve(channel => new Peer(channel, handler, { onError: () => {} }))
}

describe.each(rows)('a server over $name', ({ wire, inputs }) => {
  let served: Served
  let raw: Raw
  beforeAll(async () => {
    served = await serve(wire)
    raw = await served.connect()
  })
  afterAll(async () => {
    raw.close()
    await served.end()
  })

  const harmless = inputs.filter(input => !isFatal(input, wire))
  it.each(harmless)('answers "$name" and stays open', async row => {
    expect(await answers(raw, row.input)).toBe(expected(row, wire))
  })
})

const fatal = rows.flatMap(({ wire, inputs }) =>
  inputs
    .filter(input => isFatal(input, wire))
    .map(({ name, input }) => ({ wire, wireName: wire.name, name, input })),
)

describe('a connection', () => {
  it.each(fatal)('over $wireName closes with 1007 for "$name"', async ({ wire, input }) => {
    const served = await serve(wire)
    const [raw, other] = [await served.connect(), await served.connect()]
    raw.send(input)
    expect(await raw.ended).toBe(1007)
    other.send(marker)
    expect(await other.next()).toBe(markerReply)
    other.close()
    await served.end()
  })
})

import { PassThrough, Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Channel, Sink } from '../src/jsonrpc/channel.ts'
import { decode } from '../src/jsonrpc/codec/decode.ts'
import { encode } from '../src/jsonrpc/codec/encode.ts'
import { type Handler, methods } from '../src/jsonrpc/handler.ts'
import type { Decoded } from '../src/jsonrpc/message.ts'
import { Peer } from '../src/jsonrpc/peer/peer.ts'
import { type StreamOptions, streamChannel } from '../src/transport/stream/stream.ts'
import { lines } from '../src/wire/lines.ts'
import { type Case, cornerCases } from './corner-cases.ts'

const others = methods({})

/** Serves one method, `echo`, which returns its params. */
const handler: Handler = (message, exchange) =>
  message.method === 'echo' ? message.params : others(message, exchange)

/** Feeds the input to a peer; returns everything the peer sends, and the outcome of its call. */
async function receive({ input, over, options, outcome }: Case) {
  const sent: string[] = []
  let sink: Sink | undefined
  const channel: Channel = {
    open: opened => {
      sink = opened
    },
    send: message => {
      sent.push(encode(message))
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
  const peer = new Peer(channel, handler)
  const arrive = (bytes: string | Uint8Array) => sink?.receive(decode(bytes, options), {})
  const call = outcome === undefined ? undefined : peer.call('anything').catch(error => error.code)
  sent.length = 0
  if (over === 'lines') {
    const frame = (bytes: Uint8Array, start: number, end: number) => {
      void arrive(bytes.subarray(start, end))
    }
    const reader = lines.reader({ frame, oversize: () => {}, broken: () => {} }, 1e6)
    reader.push(Buffer.from(input))
    reader.end()
  } else {
    void arrive(input)
  }
  const became = await call
  const reply = sent.join('\n')
  await peer.close({ drainMs: 0 })
  return { reply, became }
}

/** Returns the beginning of an input, which serves as the name of its test. */
function excerpt(input: string | Uint8Array): string {
  const text =
    typeof input === 'string' ? JSON.stringify(input) : Buffer.from(input).toString('hex')
  return text.length > 70 ? `${text.slice(0, 69)}…` : text
}

describe.each(cornerCases)('$what: $happens', ({ cases }) => {
  test.each(cases.map(row => ({ ...row, name: excerpt(row.input) })))('$name', async row => {
    expect(await receive(row)).toEqual({ reply: row.reply, became: row.outcome })
  })
})

test('a method that begins with rpc. cannot be served', () => {
  expect(() => methods({ 'rpc.discover': () => 1 })).toThrow(TypeError)
})

describe('at the ends of a stream', () => {
  /** Returns what a channel over these bytes delivers, and how the channel closes. */
  async function read(text: string, options?: StreamOptions) {
    const channel = streamChannel(Readable.from([Buffer.from(text)]), new PassThrough(), options)
    const arrivals: Decoded[] = []
    const cause = await new Promise<Error | undefined>(closed => {
      const take = (arrival: Decoded) => {
        arrivals.push(arrival)
      }
      channel.open({ receive: take, closed })
    })
    await channel.close()
    return { types: arrivals.map(arrival => arrival.type), cause }
  }

  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

  test('an unterminated last line is dropped, and the channel closes with the code framing', async () => {
    const { types, cause } = await read(`${ping}\n${ping}`)
    expect(types).toEqual(['request'])
    expect(cause).toMatchObject({ code: 'framing' })
  })

  test('a byte order mark is skipped only if the option is set', async () => {
    expect((await read(`\ufeff${ping}\n`)).types).toEqual(['invalid'])
    expect((await read(`\ufeff${ping}\n`, { skipBom: true })).types).toEqual(['request'])
    expect((await read(`${ping}\n\ufeff${ping}\n`, { skipBom: true })).types).toEqual([
      'request',
      'invalid',
    ])
  })
})

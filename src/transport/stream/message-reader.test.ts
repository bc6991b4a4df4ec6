import { PassThrough, Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { pollOptions } from '../../../test/support/poll-options.ts'
import type { Envelope } from '../../jsonrpc/channel.ts'
import type { Decoded } from '../../jsonrpc/message.ts'
import type { FramingName } from '../../wire/frame.ts'
import { framing } from '../../wire/framing.ts'
import { type StreamOptions, streamChannel } from './stream.ts'

interface Received {
  readonly arrivals: Decoded[]
  readonly envelopes: Envelope[]
  readonly closed: Promise<Error | undefined>
}

/** Opens a channel that reads this stream; `react` stands for what a peer does with an arrival. */
function read(
  readable: Readable,
  options: StreamOptions = {},
  react: (arrival: Decoded) => void | Promise<void> = () => {},
): Received {
  const arrivals: Decoded[] = []
  const envelopes: Envelope[] = []
  const channel = streamChannel(readable, new PassThrough(), options)
  const closed = new Promise<Error | undefined>(resolve => {
    channel.open({
      receive: (arrival, envelope) => {
        arrivals.push(arrival)
        envelopes.push(envelope)
        return react(arrival)
      },
      closed: cause => {
        resolve(cause)
        void channel.close()
      },
    })
  })
  return { arrivals, envelopes, closed }
}

async function readAll(chunks: readonly (string | Uint8Array)[], options?: StreamOptions) {
  const received = read(
    Readable.from(
      chunks.map(chunk => Buffer.from(chunk)),
      { objectMode: false },
    ),
    options,
  )
  return { ...received, cause: await received.closed }
}

const note = (method: string): string => `{"jsonrpc":"2.0","method":"${method}"}`
const receivedNote = (method: string): Decoded => ({
  type: 'notification',
  method,
  params: undefined,
})

describe('reading a stream', () => {
  test('passes over lines of white space', async () => {
    const { arrivals } = await readAll([`\n \t \r\n${note('a')}\n  \n`])
    expect(arrivals).toEqual([receivedNote('a')])
  })

  const words = ['schön 🙂 – 漢字', 'plain']
  const framings: readonly FramingName[] = ['lines', 'length', 'headers']
  test.each(framings.flatMap(name => words.map(word => [name, word] as const)))(
    'gives the same messages however the %s are cut: %s',
    async (name, word) => {
      const texts = [note('a'), note(word), `[${note('b')},${note('c')}]`]
      const frames = texts.map(text => Buffer.from(framing(name).write(text)))
      const bytes = Buffer.concat(frames)
      const whole = await readAll([bytes], { framing: name })
      expect(whole.arrivals).toHaveLength(3)
      expect(whole.arrivals.every(arrival => arrival.type !== 'invalid')).toBe(true)
      const cuts = fc.array(fc.nat(bytes.length), { maxLength: 8 })
      await fc.assert(
        fc.asyncProperty(cuts, async places => {
          const sorted = [0, ...places, bytes.length].sort((a, b) => a - b)
          const pieces = sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end))
          const cut = await readAll(pieces, { framing: name })
          expect(cut.arrivals).toEqual(whole.arrivals)
        }),
        { numRuns: 30 },
      )
      const single = await readAll(
        Array.from(bytes, byte => Uint8Array.of(byte)),
        { framing: name },
      )
      expect(single.arrivals).toEqual(whole.arrivals)
    },
  )

  test('also takes chunks of text', async () => {
    const text = new PassThrough({ encoding: 'utf8' })
    const received = read(text)
    text.end(`${note('ünï')}\n`)
    expect(await received.closed).toBeUndefined()
    expect(received.arrivals).toEqual([receivedNote('ünï')])
  })

  test('hands the envelope of the stream along with every message', async () => {
    const envelope = { principal: { id: 'someone' } }
    const received = await readAll([`${note('a')}\n${note('b')}\n`], { envelope })
    const known = { ...envelope, acceptsRaw: true }
    expect(received.envelopes).toEqual([known, known])
    expect(received.envelopes[0]).toBe(received.envelopes[1])
  })

  test.each([
    ['a lone 0xFF', [0xff]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a character broken off', [0xe2, 0x82]],
  ])('answers bytes that are not UTF-8 (%s) and goes on', async (_, bad) => {
    const line = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","method":"'),
      Buffer.from(bad),
      Buffer.from('"}\n'),
    ])
    const { arrivals } = await readAll([line, `${note('next')}\n`])
    expect(arrivals).toMatchObject([
      { type: 'invalid', reason: 'encoding', error: { code: -32700 } },
      { type: 'notification', method: 'next' },
    ])
  })

  test('keeps a replacement character that was really sent', async () => {
    const text = '{"jsonrpc":"2.0","method":"m","params":["\ufffd"]}\n'
    const { arrivals } = await readAll([text])
    expect(arrivals).toMatchObject([{ type: 'notification', params: ['\ufffd'] }])
  })

  test('rejects a byte order mark unless skipBom is set', async () => {
    const text = `\ufeff${note('a')}\n`
    expect((await readAll([text])).arrivals).toMatchObject([{ type: 'invalid', reason: 'json' }])
    const twice = await readAll([text + text], { skipBom: true })
    expect(twice.arrivals).toMatchObject([{ type: 'notification' }, { type: 'invalid' }])
  })

  test('lets onJunk decide on text that is not JSON, and only on that', async () => {
    const onJunk = vi.fn(() => 'drop' as const)
    const { arrivals } = await readAll([`Server ready!\n${note('a')}\n{"no":"message"}\n`], {
      onJunk,
    })
    expect(onJunk).toHaveBeenCalledTimes(1)
    expect(arrivals).toMatchObject([
      { type: 'notification', method: 'a' },
      { type: 'invalid', reason: 'version' },
    ])
    const delivered = await readAll(['junk\n'], { onJunk: () => 'deliver' })
    expect(delivered.arrivals).toMatchObject([{ type: 'invalid', reason: 'json' }])
  })
})

describe('the end of the input', () => {
  test('is in good order after a whole frame', async () => {
    expect((await readAll([`${note('a')}\n`])).cause).toBeUndefined()
  })

  test('never delivers a frame that was cut off, and says so', async () => {
    const { arrivals, cause } = await readAll([`${note('a')}\n${note('b')}`])
    expect(arrivals).toEqual([receivedNote('a')])
    expect(cause).toMatchObject({ code: 'framing', message: expect.stringContaining('truncated') })
  })

  test('comes at once if the framing is lost, after the malformed input was delivered', async () => {
    const broken = 'Content-Length: oops\r\n\r\n'
    const input = new PassThrough()
    const received = read(input, { framing: 'headers' })
    input.write(broken)
    const cause = await received.closed
    expect(received.arrivals).toMatchObject([
      {
        type: 'invalid',
        reason: 'json',
        id: null,
        error: { code: -32700, message: 'Parse error' },
      },
    ])
    expect(cause).toMatchObject({ code: 'framing' })
  })

  test('comes where the sink throws, and nothing more is delivered', async () => {
    const thrown = new Error('a bug')
    const input = new PassThrough()
    const received = read(input, {}, () => {
      throw thrown
    })
    input.write(`${note('a')}\n${note('b')}\n`)
    expect(await received.closed).toMatchObject({ code: 'closed', cause: thrown })
    expect(received.arrivals).toHaveLength(1)
  })
})

describe('a message over the size limit', () => {
  const decode = { maxBytes: 100 }
  const large = `${note('x'.repeat(100))}\n`

  test('ends the input by default', async () => {
    const { arrivals, cause } = await readAll([large, `${note('a')}\n`], { decode })
    expect(arrivals).toMatchObject([{ reason: 'too-large', error: { code: -32012 } }])
    expect(cause).toMatchObject({ code: 'too-large' })
  })

  test('is skipped if reading continues', async () => {
    const { arrivals, cause } = await readAll([large, `${note('a')}\n`], {
      decode,
      oversize: 'continue',
    })
    expect(arrivals).toMatchObject([{ reason: 'too-large' }, { method: 'a' }])
    expect(cause).toBeUndefined()
  })
})

describe('a sink that applies backpressure', () => {
  test('stops the stream until all its promises are settled', async () => {
    const input = new PassThrough()
    const settles: (() => void)[] = []
    const received = read(input, {}, arrival =>
      arrival.type === 'notification' && arrival.method === 'slow'
        ? new Promise<void>((resolve, reject) => {
            settles.push(settles.length === 0 ? resolve : () => reject(new Error('no')))
          })
        : undefined,
    )
    input.write(`${note('slow')}\n${note('slow')}\n`)
    await vi.waitFor(() => expect(settles).toHaveLength(2), pollOptions)
    expect(input.isPaused()).toBe(true)
    input.end(`${note('after')}\n`)
    settles[0]?.()
    await new Promise(resolve => setImmediate(resolve))
    expect(received.arrivals).toHaveLength(2)
    settles[1]?.()
    expect(await received.closed).toBeUndefined()
    expect(received.arrivals.at(-1)).toEqual(receivedNote('after'))
  })
})

test('a flood of messages rests after so many bytes, until the next turn of the event loop', async () => {
  const line = `${note('flood')}\n`
  const stream = new PassThrough({ readableHighWaterMark: 1e6 })
  const perTurn: number[] = []
  let inTurn = 0
  const countTurn = (): void => {
    perTurn.push(inTurn)
    inTurn = 0
    if (!stream.readableEnded) setImmediate(countTurn)
  }
  for (let i = 0; i < 100; i++) stream.write(line.repeat(10))
  const { arrivals, closed } = read(stream, { turnBytes: line.length * 50 }, () => {
    inTurn++
  })
  setImmediate(countTurn)
  stream.end()
  await closed
  expect(arrivals).toHaveLength(1000)
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(100)
})

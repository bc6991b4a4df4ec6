import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { decode } from '../../../src/jsonrpc/codec/decode.ts'
import type { Decoded, Entry } from '../../../src/jsonrpc/message.ts'
import { Peer } from '../../../src/jsonrpc/peer/peer.ts'
import { streamChannel } from '../../../src/transport/stream/stream.ts'
import type { FramingName } from '../../../src/wire/frame.ts'
import { framing } from '../../../src/wire/framing.ts'
import { message } from '../json.ts'
import type { Random } from '../random.ts'
import { frames, latin1 } from '../reading.ts'
import { target } from '../target.ts'

const maxBytes = 150
const hangMs = 60_000
const ping = '{"jsonrpc":"2.0","id":"the last","method":"ping"}\n'

/**
 * A peer over a stream of hostile bytes: it closes when they end and throws nothing. With line framing
 * it also sends the right number of responses, and then answers a ping.
 */
export const peerTarget = target(
  'peer',
  random => {
    const name = random.pick<FramingName>(['lines', 'lines', 'length', 'headers'])
    const bytes = Buffer.concat(Array.from({ length: random.int(8) }, () => hostile(random, name)))
    return { name, bytes, cut: random.cut(bytes) }
  },
  async ({ name, bytes, cut }) => {
    const input = new PassThrough()
    const output = new PassThrough()
    const answers: Uint8Array[] = []
    output.on('data', (chunk: Uint8Array) => answers.push(chunk))
    const limits = { framing: name, decode: { maxBytes }, oversize: 'continue' } as const
    const peer = new Peer(streamChannel(input, output, limits), methods, { onError: () => {} })
    for (const piece of cut) if (!input.write(piece)) await once(input, 'drain')
    if (name === 'lines') input.write(`\n${ping}`)
    input.end()
    await inTime(peer.closed)
    const answered = frames(framing(name), answers, Number.POSITIVE_INFINITY).map(readAnswer)
    if (name !== 'lines') return
    assert.ok(answered.some(isPong), 'a ping is still answered')
    assert.equal(answered.length - 1, expectedAnswers(bytes), 'each message is answered once')
  },
)

const methods = {
  ping: () => 'pong',
  echo: (first: unknown) => first ?? null,
  fail: async () => {
    throw new Error('wrong')
  },
}

function hostile(random: Random, name: FramingName): Uint8Array {
  const kind = random.int(10)
  if (kind === 0) return random.bytes(random.int(20))
  const frame = Buffer.from(framing(name).write(message(random)))
  return kind < 6 ? frame : random.mutate(frame)
}

function readAnswer(frame: string): Decoded {
  const answer = decode(latin1(frame.slice('frame '.length)))
  assert.ok(frame.startsWith('frame ') && answer.type !== 'invalid', 'every answer is a message')
  return answer
}

function isPong(answer: Decoded): boolean {
  return answer.type === 'result' && answer.id === 'the last' && answer.result === 'pong'
}

/** Returns the number of responses that the lines must get, each decoded separately. */
function expectedAnswers(bytes: Uint8Array): number {
  const lines = frames(framing('lines'), [bytes, latin1('\n')], maxBytes)
  return lines.filter(line => {
    if (line === 'oversize') return true
    const arrival = decode(latin1(line.slice('frame '.length)), { maxBytes })
    return arrival.type === 'batch' ? arrival.entries.some(isAnswered) : isAnswered(arrival)
  }).length
}

function isAnswered(entry: Entry): boolean {
  return entry.type === 'request' || (entry.type === 'invalid' && entry.reply !== true)
}

async function inTime(done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing for ${hangMs} ms`)), hangMs)
  })
  await Promise.race([done, late])
  clearTimeout(timer)
}

import assert from 'node:assert/strict'
import { type DecodeOptions, decode } from '../../../src/jsonrpc/codec/decode.ts'
import { encode } from '../../../src/jsonrpc/codec/encode.ts'
import type { Decoded, Entry, Malformed, Message } from '../../../src/jsonrpc/message.ts'
import { limits } from '../../../src/util/limits/limits.ts'
import { json, message } from '../json.ts'
import type { Random } from '../random.ts'
import { target } from '../target.ts'

const everyOption: readonly [DecodeOptions, ...DecodeOptions[]] = [
  {},
  { maxBytes: 60 },
  { maxDepth: 3 },
  { maxNodes: 12 },
  { maxBatch: 2 },
  { maxIdLength: 16, maxMethodLength: 4 },
  { nullIds: false, fractionalIds: true, nullParams: true },
]
const limitReasons: readonly string[] = ['too-large', 'depth', 'nodes', 'batch-too-large']

/** The decoder against JSON.parse, against the encoder, and against its own limits. */
export const decodeTarget = target(
  'decode',
  random => ({ bytes: input(random), options: random.pick(everyOption) }),
  ({ bytes, options }) => {
    const decoded = decode(bytes, options)
    const value = parse(bytes)
    checkAgainstParse(decoded, value)
    checkLimits(decoded, value?.parsed, bytes.length, options)
    if (value !== undefined) assert.deepEqual(decode(value.text, options), decoded)
    for (const entry of decoded.type === 'batch' ? decoded.entries : [decoded]) checkEntry(entry)
    checkEncoded(decoded, options)
  },
)

function input(random: Random): Uint8Array {
  const kind = random.int(8)
  if (kind === 0) return random.bytes(random.int(40))
  if (kind === 1) return Buffer.from(json(random, 6))
  const text = Buffer.from(message(random))
  return kind < 5 ? text : random.mutate(text)
}

interface Parsed {
  readonly text: string
  readonly parsed: unknown
}

/** Returns the result of JSON.parse for the same bytes; undefined if they are not JSON. */
function parse(bytes: Uint8Array): Parsed | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { text, parsed: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function checkAgainstParse(decoded: Decoded, value: Parsed | undefined): void {
  if (value === undefined) {
    assert.ok(decoded.type === 'invalid', 'what is not JSON is no message')
    const isTold = decoded.error.code === -32700 || limitReasons.includes(decoded.reason)
    assert.ok(isTold, 'what is not JSON is a parse error')
    return
  }
  const entries = decoded.type === 'batch' ? decoded.entries : [decoded]
  for (const entry of entries) {
    assert.ok(entry.type !== 'invalid' || entry.error.code !== -32700, 'JSON is no parse error')
  }
}

function checkLimits(decoded: Decoded, value: unknown, size: number, options: DecodeOptions): void {
  const isTooLarge = decoded.type === 'invalid' && decoded.reason === 'too-large'
  assert.equal(isTooLarge, size > (options.maxBytes ?? Number.POSITIVE_INFINITY))
  if (decoded.type === 'invalid') return
  const { depth, nodes } = measure(value)
  assert.ok(depth <= (options.maxDepth ?? limits.depth.default), 'the depth is bounded')
  assert.ok(nodes <= (options.maxNodes ?? limits.nodes.default), 'the nodes are bounded')
  const entries = decoded.type === 'batch' ? decoded.entries : [decoded]
  const { maxBatch, maxMethodLength, maxIdLength } = options
  assert.ok(entries.length > 0, 'a batch is not empty')
  assert.ok(entries.length <= (maxBatch ?? limits.batch.default), 'a batch is bounded')
  for (const entry of entries) {
    const method = 'method' in entry ? entry.method : ''
    const id = 'id' in entry ? `${entry.id}` : ''
    assert.ok(method.length <= (maxMethodLength ?? limits.methodLength.default), 'a long method')
    assert.ok(id.length <= (maxIdLength ?? limits.idLength.default), 'a long id')
  }
}

/**
 * Returns the depth of a value, and the minimum number of its keys and values: a bracket and the first
 * value in it can count as one.
 */
function measure(value: unknown): { depth: number; nodes: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, nodes: 1 }
  const inner = Object.values(value).map(measure)
  const keys = Array.isArray(value) ? 0 : inner.length
  return {
    depth: 1 + Math.max(0, ...inner.map(each => each.depth)),
    nodes: Math.max(
      1,
      inner.reduce((sum, each) => sum + each.nodes, keys),
    ),
  }
}

function checkEntry(entry: Entry): void {
  switch (entry.type) {
    case 'request':
    case 'notification':
      assert.ok(entry.method !== '' && entry.method.isWellFormed(), 'a method is a name')
      assert.ok(['object', 'undefined'].includes(typeof entry.params), 'params are a structure')
      assert.notEqual(entry.params, null)
      break
    case 'result':
    case 'error':
      assert.notEqual(entry.id, undefined)
      break
    case 'invalid':
      checkMalformed(entry)
  }
}

function checkMalformed({ error, detail, id }: Malformed): void {
  assert.ok(Number.isInteger(error.code), 'a code is an integer')
  assert.ok(error.message !== '' && detail !== '', 'a refusal has words')
  assert.notEqual(id, undefined)
}

function checkEncoded(decoded: Decoded, options: DecodeOptions): void {
  if (decoded.type === 'invalid') return
  // Without the limits, because encoding can make a message longer.
  const again = 'fractionalIds' in options ? options : {}
  if (decoded.type !== 'batch') {
    assert.deepEqual(plain(decode(encode(decoded), again)), plain(decoded))
    return
  }
  const messages = decoded.entries.filter(isMessage)
  if (messages.length < decoded.entries.length) return
  assert.deepEqual(plain(decode(encode(messages), again)), plain(decoded))
}

function isMessage(entry: Entry): entry is Message {
  return entry.type !== 'invalid'
}

/**
 * Returns the value as JSON represents it: undefined members are dropped, -0 is 0, an infinite number
 * is null, and an error has only its three standard members.
 */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  const isFailure = 'type' in value && value.type === 'error'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      isFailure && name === 'error' ? errorMembers(plain(member)) : plain(member),
    ]),
  )
}

function errorMembers(error: unknown): unknown {
  const known = ['code', 'message', 'data']
  return Object.fromEntries(Object.entries(Object(error)).filter(([name]) => known.includes(name)))
}

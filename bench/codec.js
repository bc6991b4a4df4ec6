import assert from 'node:assert/strict'
import { byteDecoders, byteEncoders, decoders, encoders } from './codec-rivals.js'
import { linearity } from './linear.js'
import { elsewhere } from './mcp/elsewhere.js'
import { compare } from './measure.js'
import * as messages from './messages.js'
import { ours } from './ours.js'
import { matrix } from './report.js'

const { decode } = await ours('jsonrpc/index')
const { encode } = await ours('jsonrpc/index')

const kinds = [
  { name: 'small request', make: messages.smallRequest, target: 1.5 },
  { name: 'tool call', make: messages.toolCall, target: 0.95 },
  { name: 'tool result', make: messages.toolResult, target: 0.95 },
  { name: 'result, not ASCII', make: messages.foreignResult },
  { name: 'error', make: messages.failure },
  { name: 'notification', make: messages.notification },
  { name: 'batch of ten', make: messages.batchOfTen, target: 0.9, batch: true },
  { name: '100 KB result', make: i => messages.largeResult(i, 1e5), ring: 16 },
]
const orders = [
  { name: 'small, SDK order', make: i => messages.sdkOrder(messages.smallRequest(i)) },
  { name: 'tool call, SDK order', make: i => messages.sdkOrder(messages.toolCall(i)) },
  { name: 'small, spaced', make: messages.smallRequest, write: messages.spaced },
  { name: 'tool call, spaced', make: messages.toolCall, write: messages.spaced },
]
const [small, call, result] = kinds

const floorDecoder = { name: 'JSON.parse', checks: 'none', op: text => JSON.parse(text) }
const fatal = new TextDecoder('utf-8', { fatal: true })
const floorByteDecoder = {
  name: 'TextDecoder + JSON.parse',
  checks: 'UTF-8',
  op: bytes => JSON.parse(fatal.decode(bytes)),
}
const looseByteDecoder = {
  name: 'Buffer + JSON.parse',
  checks: 'none',
  op: bytes => JSON.parse(bytes.toString()),
}
const ownDecoder = {
  name: 'trunkline',
  checks: 'envelope, limits (size, depth, nodes, batch, lengths), duplicate members',
  own: true,
  op: input => decode(input),
}
const floorEncoder = { name: 'JSON.stringify', op: message => JSON.stringify(message) }
const ownEncoder = { name: 'trunkline', own: true, op: message => encode(message) }

const tables = [
  {
    title: 'decode, string → message',
    kinds: [...kinds, ...orders],
    field: [floorDecoder, ownDecoder, ...decoders],
    enter: decoding(messages.flat),
  },
  {
    title: 'decode, bytes → message',
    kinds: [small, call, result].map(kind => ({ ...kind, target: undefined })),
    field: [floorByteDecoder, looseByteDecoder, ownDecoder, ...byteDecoders],
    enter: decoding(text => Buffer.from(text)),
  },
  {
    title: 'encode, message → string',
    kinds,
    field: [floorEncoder, ownEncoder, ...encoders],
    enter: encoding(flatten),
  },
  {
    title: 'encode, message → bytes in a buffer',
    kinds: [small, call, result].map(kind => ({ ...kind, target: undefined })),
    field: [floorEncoder, ownEncoder, ...encoders, ...byteEncoders],
    enter: encoding(store),
  },
]

/** Measures decoding and encoding against plain JSON and other packages. */
export async function codec({ rounds, seconds = 0.05, only, alone, log }) {
  const chosen = tables.map(table => ({ ...table, workloads: prepare(table, only) }))
  log('warming up')
  await warmUp(chosen)
  const reports = []
  for (const { title, field, workloads } of chosen) {
    if (workloads.length === 0) continue
    for (const workload of workloads) {
      log(`${title}: ${workload.name}`)
      workload.results = await compare(workload.contestants, { rounds, seconds, alone })
      delete workload.contestants
    }
    const checks = field.filter(entrant => entrant.checks !== undefined)
    const notes = checks.map(({ name, checks }) => `${name}: ${checks}`)
    reports.push({
      title,
      notes: notes.length > 0 ? [`Checks made. ${notes.join('; ')}.`] : [],
      workloads,
      text: matrix(workloads),
    })
  }
  const isAgainst = process.env.BENCH_AGAINST !== undefined
  if ('linear'.includes(only) && !isAgainst) reports.push(await linearity({ rounds, alone, log }))
  return reports
}

/** Makes the contestant of this package for a table and a kind of message, for a process of its own. */
export function contestant(name) {
  const [title, kindName] = JSON.parse(name)
  const chosen = tables.find(table => table.title === title)
  const kind = chosen.kinds.find(one => one.name === kindName)
  const own = chosen.enter(kind, ownOf(chosen))
  return {
    ...own,
    async open() {
      const all = tables.flatMap(({ kinds, enter, field }) =>
        kinds.map(one => enter(one, ownOf({ field }))),
      )
      await warmUp([{ workloads: [{ contestants: all }] }])
    },
  }
}

function ownOf({ field }) {
  return field.find(({ own }) => own)
}

function prepare({ title, kinds, field, enter }, only) {
  return kinds
    .filter(({ name }) => name.includes(only))
    .map(kind => ({
      name: kind.name,
      bytes: Buffer.byteLength(textOf(kind, kind.make(500))),
      ...(kind.target !== undefined && { target: kind.target }),
      contestants: field
        .filter(({ takes }) => !kind.batch || takes?.batch !== false)
        .map(entrant => ({
          ...enter(kind, entrant),
          ...(entrant.own && {
            twin: () => elsewhere('../codec', JSON.stringify([title, kind.name]), 1),
          }),
        })),
    }))
}

/**
 * Runs every contestant on every message before anything is timed. Otherwise the first workload would
 * be measured with code compiled for a single kind of message, which no server ever sees.
 */
async function warmUp(chosen) {
  for (const { contestants } of chosen.flatMap(({ workloads }) => workloads)) {
    for (const contestant of contestants) {
      contestant.prepare()
      await contestant.run(2 * contestant.size)
    }
  }
}

const textOf = ({ write = JSON.stringify }, wire) => write(wire)

function decoding(form) {
  return (kind, entrant) => {
    const input = i => form(textOf(kind, kind.make(i)))
    const check = async () => {
      const wire = kind.make(7)
      const message = await entrant.op(input(7))
      if (entrant.own) assert.deepEqual(bare(message), messages.plain(wire))
      else assert.deepEqual(message, wire)
    }
    return entry(kind, entrant, { input, check, finish: message => message })
  }
}

function encoding(finish) {
  return (kind, entrant) => {
    const input = i => (entrant.own ? messages.plain(kind.make(i)) : kind.make(i))
    const check = async () => {
      assert.deepEqual(JSON.parse(await entrant.op(input(7))), kind.make(7))
    }
    return entry(kind, entrant, { input, check, finish })
  }
}

// Results are stored where the compiler cannot prove that they are unused.
const kept = new Array(64)

function entry(kind, { name, op, async = false }, { input, check, finish }) {
  const size = kind.ring ?? 1024
  const ring = new Array(size)
  const mask = size - 1
  let made = 1
  return {
    name,
    size,
    check,
    prepare() {
      for (let k = 0; k < size; k++) ring[k] = input(made++)
      if (made > 1e6) made = 1
    },
    run(count) {
      if (async) return runAsync(count)
      for (let i = 0; i < count; i++) kept[i & 63] = finish(op(ring[i & mask]))
    },
  }
  async function runAsync(count) {
    for (let i = 0; i < count; i++) kept[i & 63] = await op(ring[i & mask])
  }
}

/**
 * Flattens a string that V8 may still hold as a tree of concatenations, as sending it would. It returns
 * the character that it reads, because the compiler removes reads whose result is unused.
 */
function flatten(text) {
  return text.charCodeAt(text.length - 1)
}

const target = Buffer.alloc(1 << 20)

function store(text) {
  return target.write(text)
}

function bare(decoded) {
  return decoded.type === 'batch' ? decoded.entries : decoded
}

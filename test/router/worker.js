/*
 * node worker.js [OPTIONS], where OPTIONS is JSON: `ledger`, a file that records every execution before
 * the response; `role`, how the program misbehaves; `grandchild`, whether it starts a child process.
 * It writes JSON-RPC by hand, so that it starts quickly and can send anything.
 *
 * SIGUSR2 lets it answer the calls it holds.
 */
import { spawn } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const { ledger, role = 'good', grandchild = false } = JSON.parse(process.argv[2] ?? '{}')
const book = ledger === undefined ? undefined : openSync(ledger, 'a')
const held = new Map()

const input = {
  type: 'object',
  properties: { nonce: { type: 'string' } },
  required: ['nonce'],
}
const tools = [
  { name: 'work', description: 'Does something that must not be done twice', inputSchema: input },
  { name: 'look', inputSchema: input, annotations: { readOnlyHint: true } },
  { name: 'hold', description: 'Answers on a signal', inputSchema: input },
  { name: 'env', description: 'Tells what it was started with', inputSchema: { type: 'object' } },
  { name: 'params', description: 'Tells what it was called with', inputSchema: { type: 'object' } },
]

const say = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = words => ({ content: [{ type: 'text', text: words }] })

function call(id, params) {
  const { name, arguments: given = {} } = params
  const { nonce } = given
  if (book !== undefined && nonce !== undefined) writeSync(book, `${nonce} ${process.pid}\n`)
  switch (name) {
    case 'env':
      return text(JSON.stringify({ env: process.env, argv: process.argv }))
    case 'params':
      return text(JSON.stringify(params))
    case 'hold':
      held.set(id, nonce)
      return undefined
    default:
      return text(nonce)
  }
}

/** The result of a method; undefined where there is no response yet, or none at all. */
function answer(id, method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'worker', version: '1' },
      }
    case 'tools/list':
      return { tools }
    case 'tools/call':
      return call(id, params)
    default:
      return {}
  }
}

const known = new Set(['initialize', 'ping', 'tools/list', 'tools/call'])

/** How each role misbehaves, message by message; true where nothing more is sent. */
const roles = {
  good: () => false,
  'exits-in-initialize': (_, method) => {
    if (method !== 'initialize') return false
    process.stderr.write('no licence found\n')
    process.exit(3)
  },
  'never-initializes': (_, method) => method === 'initialize',
  'says-nothing': () => true,
  'foreign-ids': (id, method) => {
    if (method !== 'tools/call') return false
    for (const other of [id + 1_000_000, `${id}`, -id, null, 2 ** 60])
      say({ id: other, result: text('x') })
    return true
  },
  'garbage-on-stdout': (_, method) => {
    if (method !== 'tools/call') return false
    process.stdout.write('\u0007 {"no json\n'.repeat(5000))
    return true
  },
  'closes-stdout': (_, method) => {
    if (method !== 'tools/call') return false
    closeSync(1)
    return true
  },
  'floods-stderr': () => {
    if (flooding) return false
    flooding = true
    const line = `${'x'.repeat(1023)}\n`.repeat(64)
    let left = 512
    const flood = () => {
      while (left > 0 && process.stderr.write(line)) left--
      if (left-- > 0) process.stderr.once('drain', flood)
    }
    flood()
    return false
  },
  stubborn: () => false,
}
let flooding = false

if (role === 'stubborn') {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
}
process.on('SIGUSR2', () => {
  for (const [id, nonce] of held) say({ id, result: text(nonce) })
  held.clear()
})
if (grandchild) {
  // Left behind when this program exits, as some programs do.
  spawn('sleep', ['1000'], { stdio: 'ignore' }).unref()
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined || method === undefined) continue
  if (roles[role](id, method, params)) continue
  if (!known.has(method)) say({ id, error: { code: -32601, message: 'Method not found' } })
  else {
    const result = answer(id, method, params)
    if (result !== undefined) say({ id, result })
  }
}

/*
 * node mcp-odd-child.js WHAT: a session server that reacts to an unknown request before its session
 * has begun with WHAT: `dies`, `stays-silent`, `refuses` or `prints` an invalid message. It prints the
 * methods it receives to its error output.
 */
import { createInterface } from 'node:readline'

const what = process.argv[2]
let hasBegun = false

const results = {
  initialize: () => {
    hasBegun = true
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'odd', version: '1.0.0' },
    }
  },
  'tools/call': () => ({ content: [{ type: 'text', text: `${process.pid}` }] }),
}

function onUnknown(id) {
  if (hasBegun) send({ id, error: { code: -32601, message: 'Method not found' } })
  else if (what === 'dies') process.exit(3)
  else if (what === 'prints') process.stdout.write('what was that?\n')
  else if (what === 'refuses') send({ id, error: { code: -32000, message: 'Not initialized' } })
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  process.stderr.write(`${method}\n`)
  if (id === undefined) return
  const answer = Object.hasOwn(results, method) ? results[method] : undefined
  if (answer === undefined) onUnknown(id)
  else send({ id, result: answer() })
})

// Base of the servers in this folder, which have one fault each. They use no library, because a library would
// prevent the faults.

import { createInterface } from 'node:readline'

const info = { name: 'broken', version: '1.0.0' }
const tool = { name: 'hello', description: 'Says hello', inputSchema: { type: 'object' } }

export const refusal = (code, message) => ({ error: { code, message } })

/** Responses of a correct server, by method. */
const right = {
  initialize: ({ protocolVersion }) => ({
    result: {
      protocolVersion: known.includes(protocolVersion) ? protocolVersion : known.at(-1),
      capabilities: { tools: {} },
      serverInfo: info,
    },
  }),
  ping: () => ({ result: {} }),
  'tools/list': ({ cursor }) =>
    cursor === undefined ? { result: { tools: [tool] } } : refusal(-32602, 'no such cursor'),
  'tools/call': () => refusal(-32602, 'no such tool'),
}

const known = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

/** Returns the response to a message; undefined for a notification. */
export function answerOf(message, answers = {}) {
  const { id, method, params = {} } = message
  if (typeof method !== 'string') return { jsonrpc: '2.0', id: null, ...refusal(-32600, 'Invalid') }
  if (id === undefined) return undefined
  const answer = answers[method] ?? right[method] ?? answers.otherwise
  const said = answer === undefined ? refusal(-32601, 'Method not found') : answer(params)
  return said === undefined ? undefined : { jsonrpc: '2.0', id, ...said }
}

export { info, tool }

/** Serves on stdio. `answers` override the correct responses; `onBroken` handles invalid JSON. */
export function serve({ answers, onBroken, onEnd = () => process.exit(0) } = {}) {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', line => {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      if (onBroken !== undefined) onBroken()
      else say({ jsonrpc: '2.0', id: null, ...refusal(-32700, 'Parse error') })
      return
    }
    const answer = answerOf(message, answers)
    if (answer !== undefined) say(answer)
  })
  lines.on('close', onEnd)
}

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

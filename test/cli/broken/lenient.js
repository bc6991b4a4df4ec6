// Breaks no rule, but is not as most servers are: it answers malformed input when the next line arrives, has
// other error codes than the examples of the protocol, and needs a service that is missing.

import { info, refusal, serve } from './stdio.js'

const late = []

serve({
  answers: {
    initialize: () => ({
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {} },
        serverInfo: info,
      },
    }),
    'tools/call': ({ name }) =>
      name === undefined
        ? { result: { content: [], isError: true } }
        : refusal(-32603, 'no such tool'),
    'resources/list': () => refusal(-32603, 'connect ECONNREFUSED 127.0.0.1:5432'),
    ping: () => {
      for (const answer of late.splice(0)) process.stdout.write(`${JSON.stringify(answer)}\n`)
      return { result: {} }
    },
  },
  onBroken: () => late.push({ jsonrpc: '2.0', id: null, ...refusal(-32700, 'Parse error') }),
})

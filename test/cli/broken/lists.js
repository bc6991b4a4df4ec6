// Fails at the lists that its argument names.

import { info, refusal, serve } from './stdio.js'

const failing = (process.argv[2] ?? '').split(',')
const list = (kind, result) => () =>
  failing.includes(kind) ? refusal(-32603, `no ${kind} today`) : { result }

serve({
  answers: {
    initialize: () => ({
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, prompts: {}, resources: {} },
        serverInfo: info,
      },
    }),
    'tools/list': list('tools', { tools: [{ name: 'only', inputSchema: { type: 'object' } }] }),
    'prompts/list': list('prompts', { prompts: [{ name: 'ask' }] }),
    'resources/list': list('resources', { resources: [{ uri: 'a://b', name: 'b' }] }),
    'resources/templates/list': list('templates', { resourceTemplates: [] }),
  },
})

// Declares capabilities that it does not implement.

import { info, serve } from './stdio.js'

const initialize = () => ({
  result: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, prompts: {}, logging: {} },
    serverInfo: info,
  },
})
serve({ answers: { initialize } })

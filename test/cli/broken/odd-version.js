// Answers with a version that no revision ever had.

import { info, serve } from './stdio.js'

const initialize = () => ({
  result: { protocolVersion: '1.0', capabilities: {}, serverInfo: info },
})
serve({ answers: { initialize } })

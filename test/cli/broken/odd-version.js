// Chooses a version that does not exist.

import { info, serve } from './stdio.js'

const initialize = () => ({
  result: { protocolVersion: '1.0', capabilities: {}, serverInfo: info },
})
serve({ answers: { initialize } })

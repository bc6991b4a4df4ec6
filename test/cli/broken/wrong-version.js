// Agrees to any version whatsoever.

import { info, serve } from './stdio.js'

const initialize = ({ protocolVersion }) => ({
  result: { protocolVersion, capabilities: {}, serverInfo: info },
})
serve({ answers: { initialize } })

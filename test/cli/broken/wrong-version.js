// Agrees to any version.

import { info, serve } from './stdio.js'

const initialize = ({ protocolVersion }) => ({
  result: { protocolVersion, capabilities: {}, serverInfo: info },
})
serve({ answers: { initialize } })

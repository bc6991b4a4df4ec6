// Omits serverInfo.

import { serve } from './stdio.js'

const initialize = ({ protocolVersion }) => ({ result: { protocolVersion, capabilities: {} } })
serve({ answers: { initialize } })

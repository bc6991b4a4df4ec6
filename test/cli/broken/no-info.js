// Does not say who it is.

import { serve } from './stdio.js'

const initialize = ({ protocolVersion }) => ({ result: { protocolVersion, capabilities: {} } })
serve({ answers: { initialize } })

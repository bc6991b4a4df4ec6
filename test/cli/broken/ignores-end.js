// Stays when its input has ended.

import { serve } from './stdio.js'

setInterval(() => {}, 60_000)
serve({ onEnd: () => {} })

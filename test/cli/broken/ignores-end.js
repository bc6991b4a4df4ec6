// Does not exit when stdin ends.

import { serve } from './stdio.js'

setInterval(() => {}, 60_000)
serve({ onEnd: () => {} })

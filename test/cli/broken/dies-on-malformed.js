// Does not survive text that is no JSON.

import { serve } from './stdio.js'

serve({ onBroken: () => process.exit(1) })

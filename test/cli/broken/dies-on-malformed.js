// Exits on invalid JSON.

import { serve } from './stdio.js'

serve({ onBroken: () => process.exit(1) })

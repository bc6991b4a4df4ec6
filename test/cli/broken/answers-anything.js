// Answers methods that do not exist with a result.

import { serve } from './stdio.js'

serve({ answers: { otherwise: () => ({ result: {} }) } })

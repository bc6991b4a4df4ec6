// Answers unknown methods with a result.

import { serve } from './stdio.js'

serve({ answers: { otherwise: () => ({ result: {} }) } })

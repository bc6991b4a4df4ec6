// Does not support ping.

import { refusal, serve } from './stdio.js'

serve({ answers: { ping: () => refusal(-32601, 'Method not found') } })

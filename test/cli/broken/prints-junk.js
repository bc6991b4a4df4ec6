// Prints text that is not a message to stdout.

import { serve } from './stdio.js'

process.stdout.write('Server started!\n')
serve()

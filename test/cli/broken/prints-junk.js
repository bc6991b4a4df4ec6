// Prints what is no message on its standard output.

import { serve } from './stdio.js'

process.stdout.write('Server started!\n')
serve()

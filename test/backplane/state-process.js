// Holds the state that the process which has started this one uses.

import { memory, serveBackplane } from 'trunkline/backplane'

serveBackplane(memory(), process)

// npm start: installs, builds and runs `trunkline up` with two servers to try; arguments go to it.

import { join } from 'node:path'
import { build, install, isStale, root } from './steps.js'

if (!(await install()) || (isStale() && !(await build()))) process.exit(1)
const main = join(root, 'dist/cli/main.js')
process.argv = [process.execPath, main, 'up', '--demo', ...process.argv.slice(2)]
await import(main)

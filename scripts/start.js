// npm start: installs, builds and runs the demo; arguments go to the demo.

import { build, install, isStale } from './steps.js'

if (!(await install()) || (isStale() && !(await build()))) process.exit(1)
await import('../examples/demo.js')

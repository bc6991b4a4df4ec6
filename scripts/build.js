// npm run build: compiles the package into dist. On a fresh clone, as when it is packed, it installs
// what it needs first.

import { build, install } from './steps.js'

process.exitCode = (await install()) && (await build()) ? 0 : 1

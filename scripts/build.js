// npm run build: compiles the package into dist. On a fresh clone, for example when the package is packed
// there, it installs what it needs first.

import { installTools } from './install.js'
import { build } from './steps.js'

process.exitCode = (await installTools()) && (await build()) ? 0 : 1

// npm run build: compiles the package into dist.

import { build } from './steps.js'

process.exitCode = (await build()) ? 0 : 1

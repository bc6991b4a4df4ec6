// npm run console:test: tests the console in a real browser, every page in both themes and three widths. Pictures are
// kept in artefacts/console.

import { engineProgram, installEngines } from './engines.js'
import { install } from './install.js'
import { node, tools } from './steps.js'

if (!(await install())) process.exit(1)
await installEngines()
if (process.env.CHROMIUM === undefined && engineProgram('chromium') === undefined) {
  console.error('not tested: the console in a browser, because chromium is not installed')
  process.exit(1)
}
process.env.CONSOLE_TEST = 'all'
process.exitCode = (await node(tools.vitest, 'run', 'test/console', 'console')) ? 0 : 1

// npm run quick: the inner loop. Types, style, the tests that lie beside the sources and those that look
// at texts, on the Node at hand. The gate is `npm test`.

import { install } from './install.js'
import { root, run, tools } from './steps.js'

/** Tests outside src that take a second: they read, and start nothing. */
const texts = ['docs', 'layers', 'links', 'manifests', 'surface'].map(
  name => `test/${name}.test.ts`,
)

if (!(await install())) process.exit(1)
const results = []
// What is checked in a moment comes first, so that a slip shows at once.
for (const args of [
  [tools.biome, 'check', '--error-on-warnings', '.'],
  [tools.tsc, '-p', 'tsconfig.json'],
  [tools.vitest, 'run', '--project=src', '--project=weighed', '--reporter=dot'],
  [tools.vitest, 'run', ...texts, '--project=once', '--reporter=dot'],
]) {
  results.push(await run(process.execPath, args, { cwd: root }))
}
process.exitCode = results.every(Boolean) ? 0 : 1

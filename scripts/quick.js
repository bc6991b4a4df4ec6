// npm run quick: the inner loop. Checks types and style, and runs the tests in src and those that only read
// files, on the current Node version. The gate is `npm test`.

import { install } from './install.js'
import { root, run, tools } from './steps.js'

/** Tests outside src that take a second, because they only read files. */
const texts = ['docs', 'layers', 'links', 'manifests', 'scripts', 'surface', 'tree', 'words'].map(
  name => `test/${name}.test.ts`,
)

if (!(await install())) process.exit(1)
const results = []
// The fastest checks come first, so that a mistake shows at once.
for (const args of [
  [tools.biome, 'check', '--error-on-warnings', '.'],
  [tools.tsc, '-p', 'tsconfig.json'],
  [tools.knip],
  [tools.vitest, 'run', '--project=src', '--project=alone', '--reporter=dot'],
  [tools.vitest, 'run', ...texts, '--project=once', '--reporter=dot'],
]) {
  results.push(await run(process.execPath, args, { cwd: root }))
}
process.exitCode = results.every(Boolean) ? 0 : 1

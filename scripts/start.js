// npm start: installs the runtime dependencies, builds, and runs `trunkline up` with two demo servers;
// arguments are passed on.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installToRun } from './install.js'
import { build, isStale, root } from './steps.js'

if (!(await installToRun()) || !(await isBuilt())) process.exit(1)
const main = join(root, 'dist/cli/main.js')
process.argv = [process.execPath, main, 'up', '--demo', ...process.argv.slice(2)]
await import(pathToFileURL(main).href)

async function isBuilt() {
  if (!isStale({ types: false })) return true
  console.error('Building dist ...')
  return build({ types: false })
}

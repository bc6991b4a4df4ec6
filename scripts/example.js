// npm run example -- NAME [arguments]: installs, builds and runs examples/NAME.js; without a name it lists
// them.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { install } from './install.js'
import { build, isStale, root, run } from './steps.js'

const [name = '', ...args] = process.argv.slice(2)
const file = join(root, 'examples', `${name.replace(/\.js$/, '')}.js`)
if (name === '' || !existsSync(file)) {
  const names = ['', 'everyday/'].flatMap(programsIn)
  console.error(`npm run example -- NAME\n\n${names.map(each => each.slice(0, -3)).join('\n')}`)
  process.exit(2)
}
if (!(await install()) || (isStale() && !(await build()))) process.exit(1)
process.exitCode = (await run(process.execPath, [file, ...args], { stdio: 'inherit' })) ? 0 : 1

/** @param {string} folder a folder of examples, with a slash at the end */
function programsIn(folder) {
  const names = readdirSync(join(root, 'examples', folder)).filter(each => each.endsWith('.js'))
  return names.map(each => folder + each)
}

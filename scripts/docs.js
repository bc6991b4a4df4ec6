// npm run docs: builds the documentation site into site/dist. Its tools have a separate manifest,
// site/package.json, so that nothing else has to install them.
//
//   DOCS_BASE=/trunkline/   environment variable: the base path of the site, / by default

import { join } from 'node:path'
import { installSite, installTools } from './install.js'
import { heading, node, root } from './steps.js'

const site = join(root, 'site')

if (!(await installTools()) || !(await installSite())) process.exit(1)
heading('documentation site')
const ok = await node(join(site, 'build.js'))
if (ok) console.log(`\nsite:  ${join(site, 'dist')}\nserve: node site/serve.js`)
process.exitCode = ok ? 0 : 1

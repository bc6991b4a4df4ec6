// npm run docs: builds the documentation site into site/dist. Its tools have a separate manifest,
// site/package.json, so that nothing else has to install them.
//
//   DOCS_BASE=/trunkline/   environment variable: the base path of the site, / by default

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { heading, install, node, npm, root } from './steps.js'

const site = join(root, 'site')

if (!(await install()) || !(await installSite())) process.exit(1)
heading('documentation site')
const ok = await node(join(site, 'build.js'))
if (ok) console.log(`\nsite:  ${join(site, 'dist')}\nserve: node site/serve.js`)
process.exitCode = ok ? 0 : 1

async function installSite() {
  if (isInstalled()) return true
  heading('install the tools of the site')
  return (await npm('install', '--no-save', '--prefix', site)) && isInstalled()
}

function isInstalled() {
  const present = packages(join(site, 'node_modules/.package-lock.json'))
  return Object.entries(packages(join(site, 'package-lock.json'))).every(
    ([path, { optional, version }]) =>
      path === '' || optional === true || present[path]?.version === version,
  )
}

function packages(lock) {
  try {
    return JSON.parse(readFileSync(lock, 'utf8')).packages
  } catch (error) {
    if (error.code === 'ENOENT') return {}
    throw error
  }
}

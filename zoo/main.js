// npm run zoo: published servers and hosts with Trunkline between them; see README.md.
//
//   --servers NAMES   only these servers, separated by commas
//   --hosts NAMES     only these hosts
//   --steps NAMES     only these of servers, figures, hosts, files, check
//   --rounds NUMBER   how often the figures are measured, by default 3
//   --write           write docs/compatibility.md, from this run and the last run of the other steps

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installToRun } from '../scripts/install.js'
import { node, root } from '../scripts/steps.js'
import { checkAll } from './checked.js'
import { measure } from './figures.js'
import { readFiles } from './files.js'
import { runHosts } from './hosted.js'
import { hosts } from './hosts.js'
import { folder, installAll } from './install.js'
import { page } from './report.js'
import { runRouted } from './routed.js'
import { writeConfig } from './router.js'
import { commandsOf, servers } from './servers.js'

const { values } = parseArgs({
  options: {
    servers: { type: 'string' },
    hosts: { type: 'string' },
    steps: { type: 'string', default: 'servers,figures,hosts,files,check' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
})
const chosen = choose(servers, values.servers)
const chosenHosts = choose(hosts, values.hosts)

if (!(await installToRun()) || !(await node(join(root, 'scripts/build.js')))) process.exit(1)
mkdirSync(folder, { recursive: true })
const missing = [
  ...(await installAll('servers', chosen)),
  ...(await installAll('hosts', chosenHosts)),
]
for (const { name } of missing) console.error(`${name}: could not be installed`)

const installed = chosen.filter(server => !missing.includes(server))
const commands = commandsOf(installed)
const file = writeConfig(commands)
const names = installed.map(({ name }) => name)
const steps = {
  servers: () => runRouted(file, installed),
  figures: () => measure(file, commands, Number(values.rounds)),
  hosts: () => runHosts(chosenHosts, commands),
  files: () => readFiles(),
  check: () => checkAll(file, names),
}

// A run takes an hour and figures need a quiet machine, so each step keeps its last results.
const results = join(folder, 'results.json')
const all = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : {}
for (const step of values.steps.split(',')) {
  if (steps[step] === undefined) fail(`--steps: there is no "${step}"`)
  console.error(`== ${step}`)
  all[step] = {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    cores: cpus().length,
    value: await steps[step](),
  }
  writeFileSync(results, JSON.stringify(all, null, 2))
}

const text = page(all, servers)
console.log(text)
if (values.write) {
  const lacking = Object.keys(steps).filter(step => all[step] === undefined)
  if (lacking.length > 0) fail(`--write: run ${lacking.join(', ')} first`)
  writeFileSync(join(root, 'docs/compatibility.md'), text)
}
process.exit(missing.length === 0 ? 0 : 1)

function choose(entries, given) {
  if (given === undefined) return entries
  const wanted = given.split(',').filter(name => name !== '')
  const unknown = wanted.filter(name => !entries.some(entry => entry.name === name))
  if (unknown.length > 0) {
    fail(`unknown: ${unknown.join(', ')}; there are ${entries.map(({ name }) => name).join(', ')}`)
  }
  return entries.filter(({ name }) => wanted.includes(name))
}

function fail(message) {
  console.error(message)
  process.exit(2)
}

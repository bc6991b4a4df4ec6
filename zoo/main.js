// npm run zoo: published servers and hosts with Trunkline between them; see README.md.
//
//   --servers NAMES   only these servers, separated by commas
//   --hosts NAMES     only these hosts
//   --steps NAMES     only these of bare, routed, hosts, check
//   --write           write docs/compatibility.md, if everything was run

import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installToRun } from '../scripts/install.js'
import { node, root } from '../scripts/steps.js'
import { startBare } from './bare.js'
import { checkAll } from './checked.js'
import { runHosts } from './hosted.js'
import { hosts } from './hosts.js'
import { folder, installAll } from './install.js'
import { page } from './report.js'
import { runRouted, writeConfig } from './routed.js'
import { commandsOf, servers } from './servers.js'

const { values } = parseArgs({
  options: {
    servers: { type: 'string' },
    hosts: { type: 'string' },
    steps: { type: 'string', default: 'bare,routed,hosts,check' },
    write: { type: 'boolean', default: false },
  },
})
const steps = new Set(values.steps.split(','))
const chosen = choose(servers, values.servers)
const chosenHosts = choose(hosts, values.hosts)

if (!(await installToRun()) || !(await node(join(root, 'scripts/build.js')))) process.exit(1)
mkdirSync(folder, { recursive: true })
const missing = [
  ...(await installAll('servers', chosen)),
  ...(await installAll('hosts', chosenHosts)),
]
for (const { name } of missing) console.error(`${name}: could not be installed`)

const commands = commandsOf(chosen.filter(server => !missing.includes(server)))
const results = {
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  cores: cpus().length,
  servers: chosen,
  missing,
}
if (steps.has('bare')) results.bare = await startBare(commands)
if (steps.has('routed')) results.routed = await runRouted(writeConfig(commands), chosen)
if (steps.has('hosts')) results.hosts = await runHosts(chosenHosts, commands)
if (steps.has('check')) results.checks = await checkAll(commands)
writeFileSync(join(folder, 'results.json'), JSON.stringify(results, null, 2))

const text = page(results)
console.log(text)
if (values.write) writeFileSync(join(root, 'docs/compatibility.md'), text)
process.exit(missing.length === 0 ? 0 : 1)

function choose(all, names) {
  if (names === undefined) return all
  const wanted = names.split(',').filter(name => name !== '')
  const unknown = wanted.filter(name => !all.some(entry => entry.name === name))
  if (unknown.length > 0) {
    console.error(
      `unknown: ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`,
    )
    process.exit(2)
  }
  return all.filter(({ name }) => wanted.includes(name))
}

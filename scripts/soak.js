// npm run soak -- [router]: injects faults into a router with real processes, and tests its lifecycle.
// npm run soak -- mixed: runs a mixed load on a router with four servers, and compares its counters.
// npm run soak -- http: lets 200 clients call one server over HTTP, and compares a ledger.
// npm run soak -- cluster: kills and stops nodes of a cluster and its engine under load, and compares a ledger.
//
//   --minutes N  how long the mixed load lasts; 20 by default
//   --kills N    programs that are killed one after the other under load; 300 by default
//   --cuts N     times that the connections to a server are cut meanwhile; 300 by default
//   --reloads N  reloads of the configuration meanwhile; 30 by default
//   --every MS   time between two faults of a kind; 1000 by default
//   --calls N    calls under load, while a process is killed every two seconds; 100 000 by default
//   --cycles N   routers that are created and closed; 1000 by default
//   --ups N      runs of `trunkline up` that are started and stopped; 100 by default

import { parseArgs } from 'node:util'
import { install } from './install.js'
import { root } from './steps.js'

const what = {
  router: 'test/router/long.ts',
  mixed: 'test/router/mixed/long.ts',
  http: 'test/http/long.ts',
  cluster: 'test/cluster/long.ts',
}
const names = ['minutes', 'kills', 'cuts', 'reloads', 'every', 'calls', 'cycles', 'ups']
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
})
const [wanted = 'router', ...rest] = positionals
if (!Object.hasOwn(what, wanted) || rest.length > 0) {
  console.error(`there is ${Object.keys(what).join(', ')}, not ${positionals.join(' ')}`)
  process.exit(1)
}
const env = {}
for (const name of names) {
  if (values[name] === undefined) continue
  if (!/^\d+$/.test(values[name])) {
    console.error(`--${name} must be an integer (got ${values[name]})`)
    process.exit(1)
  }
  env[`SOAK_${name.toUpperCase()}`] = values[name]
}

if (!(await install())) process.exit(1)
// Vitest, because it loads the tests, which are TypeScript, on every Node version.
const { startVitest } = await import('vitest/node')
const vitest = await startVitest('test', [], {
  root,
  config: false,
  watch: false,
  include: [what[wanted]],
  globalSetup: ['test/built.js'],
  testTimeout: 0,
  disableConsoleIntercept: true,
  env,
})
await vitest.close()

// npm run soak -- [router]: faults and lifetimes of the router on real programs, for as long as it takes.
//
//   --calls N    calls of the storm, in which a program is killed every two seconds; 100 000 unless told
//   --cycles N   routers that are made and closed; 1000 unless told
//   --ups N      runs of `trunkline up` that are started and ended; 100 unless told

import { parseArgs } from 'node:util'
import { install } from './install.js'
import { root } from './steps.js'

const what = { router: 'test/router/long.ts' }
const names = ['calls', 'cycles', 'ups']
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
    console.error(`--${name} is a whole number, not ${values[name]}`)
    process.exit(1)
  }
  env[`SOAK_${name.toUpperCase()}`] = values[name]
}

if (!(await install())) process.exit(1)
// Vitest, because it is what reads the tests, which are TypeScript, on every Node.
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

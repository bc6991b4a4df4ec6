// npm run fuzz: feeds generated input to everything that parses input, in turn. The targets are in test/fuzz/targets.
//
//   --seconds N    duration; 10 by default
//   --minutes N    the same in minutes
//   --target name  runs only this target
//   --seed N       starts with this seed; without --seconds it runs only this one

import { parseArgs } from 'node:util'
import { install } from './install.js'
import { root } from './steps.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    minutes: { type: 'string' },
    target: { type: 'string' },
    seed: { type: 'string' },
  },
})
const env = {}
for (const name of ['seconds', 'minutes', 'seed']) {
  if (values[name] === undefined) continue
  if (!/^\d+$/.test(values[name])) {
    console.error(`--${name} must be an integer (got ${values[name]})`)
    process.exit(1)
  }
  env[`FUZZ_${name.toUpperCase()}`] = values[name]
}
if (env.FUZZ_MINUTES !== undefined) env.FUZZ_SECONDS = String(60 * Number(env.FUZZ_MINUTES))
if (values.target !== undefined) env.FUZZ_TARGET = values.target

if (!(await install())) process.exit(1)
// Vitest, because it loads the targets, which are TypeScript, on every Node version.
const { startVitest } = await import('vitest/node')
const vitest = await startVitest('test', [], {
  root,
  config: false,
  watch: false,
  include: ['test/fuzz/long.ts'],
  testTimeout: 0,
  disableConsoleIntercept: true,
  env,
})
await vitest.close()

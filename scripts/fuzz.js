// npm run fuzz: tries the wires, the decoder and the peer with made-up input, in turn.
//
//   --seconds N    how long; 10 unless told
//   --target name  only this one
//   --seed N       begins with this seed; without --seconds it is the only one

import { parseArgs } from 'node:util'
import { install } from './install.js'
import { root } from './steps.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    target: { type: 'string' },
    seed: { type: 'string' },
  },
})
const env = {}
for (const name of ['seconds', 'seed']) {
  if (values[name] === undefined) continue
  if (!/^\d+$/.test(values[name])) {
    console.error(`--${name} is a whole number, not ${values[name]}`)
    process.exit(1)
  }
  env[`FUZZ_${name.toUpperCase()}`] = values[name]
}
if (values.target !== undefined) env.FUZZ_TARGET = values.target

if (!(await install())) process.exit(1)
// Vitest, because it is what reads the targets, which are TypeScript, on every Node.
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

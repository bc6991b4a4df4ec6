// npm run conformance: lets the official conformance suite judge the server and the client. Words given
// as arguments choose: only what has all of them in its name is judged.

import { install } from './install.js'
import { build, heading, isStale } from './steps.js'

if (!(await install()) || (isStale() && !(await build()))) process.exit(1)
// Not before, because they may import what has just been installed.
const { judge } = await import('../test/conformance/judge.js')
const { runs } = await import('../test/conformance/runs.js')
const words = process.argv.slice(2)
const chosen = runs.filter(({ name }) => words.every(word => name.includes(word)))
let passed = 0
let failed = 0
for (const run of chosen) {
  heading(run.name)
  const verdict = await judge(run)
  console.log(`${verdict.scenarios} scenarios, ${verdict.passed} checks passed`)
  for (const problem of verdict.problems) console.log(`- ${problem}`)
  passed += verdict.passed
  failed += verdict.problems.length
}
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

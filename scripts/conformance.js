// npm run conformance: lets the official conformance suite judge the server and the client. Words given
// as arguments choose: only what has all of them in its name is judged.

import { judge } from '../test/conformance/judge.js'
import { runs } from '../test/conformance/runs.js'
import { build, heading, isStale } from './steps.js'

if (isStale() && !(await build())) process.exit(1)
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

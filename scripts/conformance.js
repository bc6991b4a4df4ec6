// npm run conformance: runs the official conformance suite against the server and the client. Arguments
// select tests: only those whose name contains all of them run.

import { install } from './install.js'
import { build, heading, isStale } from './steps.js'

if (!(await install()) || (isStale() && !(await build()))) process.exit(1)
// Imported here, because it may import packages that have just been installed.
const { judge } = await import('../test/conformance/judge.js')
const { runs } = await import('../test/conformance/runs.js')
const words = process.argv.slice(2)
const chosen = runs.filter(({ name }) => words.every(word => name.includes(word)))
let passed = 0
let failed = 0
for (const run of chosen) {
  heading(run.name)
  const result = await judge(run)
  console.log(`${result.scenarios} scenarios, ${result.passed} checks passed`)
  for (const problem of result.problems) console.log(`- ${problem}`)
  passed += result.passed
  failed += result.problems.length
}
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

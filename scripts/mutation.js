// npm run mutation: removes the checks of test/auth/mutants.js, one at a time, and fails if the tests of one of them
// pass nevertheless. Sources are changed while they are loaded, never in their files. With --check it only finds out
// whether the changes still fit the sources.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mutants } from '../test/auth/mutants.js'
import { install } from './install.js'
import { root } from './steps.js'

/** Returns a source with the changes of a mutant. Throws if a change does not fit the source. */
function mutated({ check, changes }, file, source) {
  let text = source
  for (const [name, from, to] of changes) {
    if (name !== file) continue
    const times = text.split(from).length - 1
    if (times !== 1) {
      throw new Error(
        `${file} contains the text that is to be replaced ${times} times, not once:\n${from}\n` +
          `Adapt the change in test/auth/mutants.js that removes "${check}".`,
      )
    }
    text = text.replace(from, () => to)
  }
  return text
}

for (const mutant of mutants) {
  for (const [file] of mutant.changes) mutated(mutant, file, readFileSync(join(root, file), 'utf8'))
}
if (process.argv.includes('--check')) process.exit()

if (!(await install())) process.exit(1)
const { createVitest } = await import('vitest/node')
let current
const plugin = {
  name: 'mutant',
  enforce: 'pre',
  transform(source, id) {
    if (current === undefined || !id.startsWith(root)) return undefined
    return mutated(current, id.slice(root.length).replaceAll('\\', '/'), source)
  },
}
const options = {
  config: false,
  include: [...new Set(mutants.map(({ tests }) => tests))],
  isolate: false,
  reporters: [{}],
  root,
  testTimeout: 300_000,
  watch: false,
}
const vitest = await createVitest('test', options, { plugins: [plugin] })

/** Runs the tests of the current mutant. Resolves to how many of them have passed and failed. */
async function outcome({ changes, tests }) {
  const specifications = await vitest.getRelevantTestSpecifications([tests])
  // All other sources stay in the cache. Without this, those of the mutant would be those of the one before.
  const invalidate = () => {
    for (const [file] of changes) vitest.invalidateFile(join(root, file))
  }
  invalidate()
  const { testModules } = await vitest.runTestSpecifications(specifications)
  invalidate()
  const module = testModules.find(({ moduleId }) => moduleId === join(root, tests))
  const states = Array.from(module?.children.allTests() ?? [], test => test.result().state)
  const count = state => states.filter(one => one === state).length
  return { passed: count('passed'), failed: count('failed') }
}

let missed = 0
for (const mutant of mutants) {
  current = mutant
  const { passed, failed } = await outcome(mutant)
  // If no test passes, the source could not even be loaded.
  const isNoticed = failed > 0 && passed > 0
  if (!isNoticed) missed++
  const result = isNoticed ? 'noticed' : 'NOT NOTICED'
  const count = `${failed} of ${failed + passed} tests fail`
  console.log(`${result}: ${mutant.check} (${count} in ${mutant.tests})`)
}
await vitest.close()
console.log(`\n${mutants.length - missed} of ${mutants.length} removed checks are noticed by tests`)
process.exitCode = missed === 0 ? 0 : 1

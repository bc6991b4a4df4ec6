// npm test: the whole gate. Installs, checks style and types, builds, and runs every test on this
// Node, and on the other versions the package promises to run on those that could tell them apart.
// `-- --this-node` leaves the other versions out.

import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { install } from './install.js'
import { nodeOf, otherVersions } from './node-versions.js'
import { heading, root, run, tools } from './steps.js'

const results = join(root, '.cache', 'results')
let passed = 0
let failed = 0

await gate()
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

async function gate() {
  if (!(await check('install', install))) return
  const here = process.versions.node
  const others = process.argv.includes('--this-node') ? [] : otherVersions()
  const binaries = new Map()
  const [isBuilt] = await together([
    ['build', program('scripts/build.js')],
    ['lint', program(tools.biome, 'check', '--error-on-warnings', '.')],
    ['types', program(tools.tsc, '-p', 'tsconfig.json')],
    ...others.map(version => [
      `fetch Node ${version}`,
      async () => binaries.set(version, await nodeOf(version)),
    ]),
  ])
  if (!isBuilt) return

  rmSync(results, { recursive: true, force: true })
  mkdirSync(results, { recursive: true })
  await test(here, process.execPath)
  for (const version of others) {
    const binary = binaries.get(version)
    if (binary !== undefined) await test(version, binary, projectsOn(version))
  }
}

/** What is tried on another Node: of one in the same line as this one, only whether the code runs on it. */
function projectsOn(version) {
  const line = text => text.split('.', 1)[0]
  const code = ['src', 'weighed']
  return line(version) === line(process.versions.node) ? code : [...code, 'test']
}

/** A step that works or does not; one that does not counts as one failure. */
async function check(name, step) {
  heading(name)
  try {
    if (await step()) return true
    console.error(`${name} failed`)
  } catch (error) {
    console.error(`${name} failed: ${error.message}`)
  }
  failed += 1
  return false
}

/**
 * Steps that need nothing of each other, side by side: each of them leaves a core free most of the time.
 * What one prints is shown in one piece, when it has ended.
 */
function together(steps) {
  return Promise.all(
    steps.map(async ([name, step]) => {
      let printed = ''
      const print = text => {
        printed += text
      }
      const [outcome] = await Promise.allSettled([step(print)])
      return check(name, () => {
        process.stdout.write(printed)
        if (outcome.status === 'rejected') throw outcome.reason
        return outcome.value
      })
    }),
  )
}

/** A step that runs a JavaScript file. */
function program(...args) {
  return print => run(process.execPath, args, { print })
}

/**
 * Every test on one Node, or those of some projects of vitest.config.ts; the counts come from a report
 * beside the one people read.
 */
async function test(version, binary, projects = []) {
  heading(`tests on Node ${version}`)
  const report = join(results, `${version}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  // First on the path, so that programs which tests start by name run on this Node too.
  const path = `${dirname(binary)}${delimiter}${process.env.PATH}`
  const options = { env: { ...process.env, PATH: path } }
  const only = projects.map(name => `--project=${name}`)
  // What was made of a source on one Node serves on the next; the folder is a new one each time.
  const modules = join(results, 'modules')
  const cache = ['--experimental.fsModuleCache', `--experimental.fsModuleCachePath=${modules}`]
  const ok = await run(binary, [tools.vitest, 'run', ...only, ...cache, ...reporters], options)
  const counts = read(report)
  passed += counts.passed
  // A run may fail without a failing test: a leaked error, a crash, a file that did not load.
  failed += ok ? counts.failed : Math.max(counts.failed, 1)
}

function read(report) {
  try {
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    let failures = 0
    for (const file of testResults) {
      const count = file.assertionResults.filter(test => test.status === 'failed').length
      failures += file.status === 'failed' ? Math.max(count, 1) : count
    }
    return { passed: numPassedTests, failed: failures }
  } catch {
    console.error(`no report at ${report}`)
    return { passed: 0, failed: 1 }
  }
}

// npm test: the whole gate. Installs, checks style and types, builds, runs every test on the current Node
// version, and runs the tests that depend on the version on the other supported ones.
// `-- --this-node` skips the other versions.

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
    ['unused code', program(tools.knip)],
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

/** Returns the tests for another version. In the same release line as the current one, only the unit tests. */
function projectsOn(version) {
  const line = text => text.split('.', 1)[0]
  const code = ['src', 'alone']
  return line(version) === line(process.versions.node) ? code : [...code, 'test']
}

/** Runs a step that succeeds or fails; a failed step counts as one failure. */
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
 * Runs independent steps in parallel, because each leaves a core idle most of the time. The output of a
 * step is printed in one piece when it has finished.
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

/** Runs a JavaScript file as a step. */
function program(...args) {
  return print => run(process.execPath, args, { print })
}

/**
 * Runs every test, or those of some projects of vitest.config.ts, on one Node version. The counts come from
 * a second, machine-readable report.
 */
async function test(version, binary, projects = []) {
  heading(`tests on Node ${version}`)
  const report = join(results, `${version}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  // First on the PATH, so that programs that tests start by name use this Node version too.
  const path = `${dirname(binary)}${delimiter}${process.env.PATH}`
  const options = { env: { ...process.env, PATH: path } }
  const only = projects.map(name => `--project=${name}`)
  // Node versions share the compile cache of sources; the folder is new in each run.
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

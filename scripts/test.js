// npm test: the whole gate. Installs, checks style and types, builds, runs every test on the current Node
// version, and runs the tests that depend on the version on the other supported ones.
// `-- --this-node` skips the other versions.

import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { installEngines } from './engines.js'
import { install } from './install.js'
import { nodeOf, otherVersions } from './node-versions.js'
import { heading, root, run, tools } from './steps.js'

const results = join(root, '.cache', 'results')
let passed = 0
/** A line for each failure. They are printed last, where the log of a long run is read first. */
const failures = []
/** A line for each part that could not be tested on this machine. */
let untested = []

await gate()
console.log(
  ['', ...untested, ...failures, `${passed} passed, ${failures.length} failed`].join('\n'),
)
process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1

async function gate() {
  if (!(await check('install', install))) return
  const here = process.versions.node
  const others = process.argv.includes('--this-node') ? [] : otherVersions()
  const binaries = new Map()
  const [isBuilt] = await together([
    ['build', program('scripts/build.js')],
    ['lint', program(tools.biome, 'check', '--error-on-warnings', '.')],
    ['types', program(tools.tsc, '-p', 'tsconfig.json')],
    ['types of the console', program(tools.tsc, '-p', 'console/tsconfig.json')],
    ['unused code', program(tools.knip)],
    ['engines', findEngines],
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
    failures.push(`failed: ${name}`)
  } catch (error) {
    failures.push(`failed: ${name}: ${error.message}`)
  }
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

/** Installs what clusters need besides packages of npm. The gate goes on without it. */
async function findEngines(print) {
  untested = await installEngines({ print })
  print([...untested, ''].join('\n'))
  return true
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
  const outcome = read(report)
  passed += outcome.passed
  // A run may fail without a failing test: a leaked error, a crash, a missing report.
  if (!ok && outcome.failed.length === 0) outcome.failed.push('the run itself, see above')
  failures.push(...outcome.failed.map(name => `failed on Node ${version}: ${name}`))
}

/** Returns the number of tests that passed and the names of those that failed, or of their file if it did not load. */
function read(report) {
  try {
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    const failed = testResults.flatMap(file => {
      const path = relative(root, file.name)
      const tests = file.assertionResults.filter(test => test.status === 'failed')
      if (tests.length === 0 && file.status === 'failed') return [path]
      return tests.map(test => `${path}: ${test.fullName}\n  ${firstLine(test.failureMessages[0])}`)
    })
    return { passed: numPassedTests, failed }
  } catch (error) {
    return { passed: 0, failed: [`no report of the tests: ${error.message}`] }
  }
}

function firstLine(text = '') {
  return text.split('\n', 1)[0]
}

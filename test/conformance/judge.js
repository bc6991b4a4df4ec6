// Runs the official conformance suite against our server, over HTTP, and against our client.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { nodeOf, versions } from '../../scripts/node-versions.js'
import { root } from '../../scripts/steps.js'
import { turnsPort } from './turns.js'

/** Checks that the suite only names: it reports them as skipped. */
const stubs = new Set(['tasks-status-notifications'])

/** Scenarios in which the client must end with an error, because it must not trust what it receives. */
const refused = new Set([
  'scope-retry-limit',
  'resource-mismatch',
  'metadata-issuer-mismatch',
  'iss-supported-missing',
  'iss-wrong-issuer',
  'iss-unexpected',
  'iss-normalized',
  'sep-2640-client-verify-digest',
  'sep-2640-client-verify-size',
  'sep-2640-client-verify-frontmatter',
])

/** It ends a client that hangs, so it is far above what one takes on a slow and busy machine. */
const timeoutMs = '300000'

/** Runs one case; resolves to its result, or to that of its last attempt. */
export async function judge(run, options = {}) {
  const attempt = run.side === 'client' ? judgeClient : judgeServer
  let result = await attempt(run, options)
  for (let more = run.retries ?? 0; more > 0 && result.problems.length > 0; more--) {
    result = await attempt(run, options)
  }
  return result
}

async function judgeServer(run, options) {
  const server = await startServer(run, options)
  try {
    return await runSuite(run, ['--url', server.address, ...run.args], options)
  } finally {
    await server.stop()
  }
}

async function judgeClient(run, options) {
  const program = fileURLToPath(new URL('waiting-client.js', import.meta.url))
  // The suite splits the command at spaces, joins the pieces again and passes them to a shell.
  const command = `"${process.execPath}" "${program}" ${await turnsPort()}`
  const args = ['--command', command, '--timeout', timeoutMs, ...run.args]
  return runSuite(run, args, options)
}

/** Starts the program that serves every feature. */
async function startServer({ behind = [] }, { signal }) {
  const program = fileURLToPath(new URL('server.js', import.meta.url))
  const child = spawn(process.execPath, [program, ...behind], {
    stdio: ['pipe', 'pipe', 'inherit'],
    signal,
  })
  child.on('error', () => {})
  const closed = once(child, 'close')
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    closed.then(() => reject(new Error('the server has ended before it listened')), reject)
  })
  return {
    address,
    stop: async () => {
      child.stdin.end()
      await closed.catch(() => {})
    },
  }
}

/** Starts the suite and reads its report. */
async function runSuite(run, args, { signal }) {
  const results = mkdtempSync(join(tmpdir(), 'conformance-'))
  const suite = join(
    root,
    'third-party/node_modules',
    `conformance-${run.suite}`,
    'dist',
    'index.js',
  )
  try {
    const child = spawn(await suiteNode(), [suite, run.side, ...args, '-o', results], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', text => {
        output += text
      })
    }
    const [code] = await once(child, 'close')
    return resultOf(run, foldersIn(results), code, output)
  } finally {
    rmSync(results, { recursive: true, force: true })
  }
}

function resultOf(run, folders, code, output) {
  const problems = []
  const { except = [] } = run
  let passed = 0
  for (const folder of folders) {
    if (except.includes(nameOf(folder))) continue
    const file = join(folder, 'checks.json')
    const checks = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
    const good = checks.filter(({ status }) => status === 'SUCCESS').length
    const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    passed += good
    problems.push(...bad.map(check => described(folder, check)))
    const isStub = checks.some(({ id, status }) => status === 'SKIPPED' && stubs.has(id))
    if (run.side === 'client') problems.push(...endOf(folder))
    if (good + bad.length === 0 && !isStub) problems.push(`${nameOf(folder)}: nothing was checked`)
  }
  if (folders.length !== run.scenarios) {
    problems.push(`${folders.length} scenarios were run, not ${run.scenarios}`)
  }
  // The suite exits with this code for expected failures, too.
  if (code !== 0 && except.length === 0)
    problems.push(`the suite has ended with ${code}:\n${output.slice(-4000)}`)
  return { scenarios: folders.length, passed, problems }
}

/** What is wrong with how a client ended. */
function endOf(folder) {
  const scenario = nameOf(folder)
  const said = name => readFileSync(join(folder, name), 'utf8')
  const isDone = said('stdout.txt').endsWith('done\n')
  if (isDone !== refused.has(scenario)) return []
  if (isDone) return [`${scenario}: the client accepted what it must refuse`]
  return [`${scenario}: the client has failed:\n${said('stderr.txt')}`]
}

/** The folders of the results. The name of a scenario may have a slash, which is a folder more. */
function foldersIn(results) {
  return readdirSync(results).flatMap(name => {
    const folder = join(results, name)
    return nameOf(folder) === name
      ? readdirSync(folder).map(inner => join(folder, inner))
      : [folder]
  })
}

/** A failed check, in the words of the suite. */
function described(folder, { status, id, description, errorMessage, details }) {
  const words = [`${nameOf(folder)}: ${status} ${id}: ${description}`]
  if (errorMessage !== undefined) words.push(errorMessage)
  if (details !== undefined) words.push(JSON.stringify(details).slice(0, 2000))
  return words.join('\n    ')
}

/** The scenario of a result folder, whose name ends with the time. */
function nameOf(folder) {
  return folder.replace(/^.*[\\/]/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
}

/** A Node that can run the suite, which needs a newer one than the package does. */
async function suiteNode() {
  const isNewEnough = Number(process.versions.node.split('.')[0]) >= 22
  return isNewEnough ? process.execPath : nodeOf(versions.find(version => /^22\./.test(version)))
}

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { install } from '../scripts/install.js'
import { comparison } from './against.js'
import { build } from './ours.js'
import { aimLines, isBusy, machine, machineLine, targetsOf } from './report.js'

const suites = {
  codec: async () => (await import('./codec.js')).codec,
  peer: async () => (await import('./peer.js')).peer,
  stdio: async () => (await import('./stdio.js')).stdio,
  tcp: async () => (await import('./tcp.js')).tcp,
  ws: async () => (await import('./ws.js')).ws,
  mcp: async () => (await import('./mcp.js')).mcp,
  http: async () => (await import('./http.js')).http,
  auth: async () => (await import('./auth.js')).auth,
  fanout: async () => (await import('./http-fanout.js')).fanout,
  'http-clients': async () => (await import('./http-clients.js')).httpClients,
  'http-memory': async () => (await import('./http-memory.js')).httpMemory,
  router: async () => (await import('./router.js')).router,
  memory: async () => (await import('./memory.js')).memory,
  observe: async () => (await import('./observe.js')).observe,
  cluster: async () => (await import('./cluster.js')).cluster,
  backplane: async () => (await import('./backplane.js')).backplane,
  workers: async () => (await import('./workers.js')).workers,
}

const usage = `npm run bench -- [suite …] [options]

suites: ${Object.keys(suites).join(' ')} (none means all)
  --rounds N      rounds per workload (9)
  --seconds S     duration of one contestant's round (default depends on the suite)
  --only TEXT     only workloads whose name contains TEXT
  --alone         only the floors and trunkline
  --cpu           measure CPU time in codec, peer and in-process mcp, for a busy machine
  --json          print one JSON document to stdout instead of tables
  --check         exit with code 1 if a target is missed or a contestant failed
  --dist FOLDER   measure another build than ../dist
  --against DIR   compare with another build, which runs in turn in the same rounds
  --profile DIR   write CPU profiles of the server processes to DIR`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    alone: { type: 'boolean', default: false },
    cpu: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    dist: { type: 'string' },
    against: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const unknown = positionals.filter(name => !Object.hasOwn(suites, name))
if (values.help || unknown.length > 0) {
  console.error(unknown.length > 0 ? `unknown suite ${unknown.join(', ')}\n\n${usage}` : usage)
  process.exit(unknown.length > 0 ? 2 : 0)
}

if (values.dist !== undefined) process.env.TRUNKLINE_DIST = resolve(values.dist)
if (values.against !== undefined) process.env.BENCH_AGAINST = resolve(values.against)
if (values.cpu) process.env.BENCH_CPU = '1'
if (values.profile !== undefined) process.env.BENCH_PROFILE = values.profile
if (!(await install())) process.exit(1)
build()

const where = machine()
const names = positionals.length > 0 ? positionals : Object.keys(suites)
const options = {
  rounds: positive('rounds', values.rounds),
  seconds: values.seconds === undefined ? undefined : positive('seconds', values.seconds),
  only: values.only,
  alone: values.alone,
  log,
}

if (isBusy(where)) console.error('The machine is busy: do not publish these figures.')
if (!values.json) console.log(`${machineLine(where)}; ${options.rounds} rounds\n`)

const reports = []
for (const name of names) {
  const run = await suites[name]()
  for (const report of await run(options)) {
    reports.push({ suite: name, ...report })
    if (!values.json && values.against === undefined) print(report)
  }
}

const workloads = reports.flatMap(report => report.workloads)
const aimed = workloads.flatMap(targetsOf)
const missed = aimed.filter(({ isReached }) => !isReached)
const failed = workloads.flatMap(({ results = [] }) => results.filter(result => result.failed))
if (values.json) {
  const suitesRun = reports.map(({ text, ...report }) => report)
  console.log(
    JSON.stringify({ machine: where, rounds: options.rounds, reports: suitesRun }, null, 2),
  )
} else if (values.against !== undefined) {
  console.log(comparison(reports))
} else {
  console.log(`${aimed.length - missed.length} of ${aimed.length} targets reached`)
}
for (const { name, failed: why } of failed) console.error(`${name} failed: ${why}`)
if (values.check && missed.length + failed.length > 0) process.exitCode = 1

function print({ title, notes, text, workloads: own }) {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  const parts = [[`### ${title}`], notes, [text], own.flatMap(aimLines)]
  console.log(
    `${parts
      .filter(lines => lines.length > 0)
      .map(lines => lines.join('\n'))
      .join('\n\n')}\n`,
  )
}

function log(step) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${step} …`)
}

function positive(name, text) {
  const number = Number(text)
  if (!(number > 0)) throw new RangeError(`--${name} must be a positive number (got "${text}")`)
  return number
}

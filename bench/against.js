import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { spread } from './measure.js'
import { table } from './report.js'

const main = fileURLToPath(new URL('main.js', import.meta.url))

/**
 * Compares two builds: runs `suites` with each in turn, `turns` times, in separate processes. The build
 * that runs first alternates, so that a machine that gets slower or faster affects both alike.
 *
 * Returns a row per contestant: how many times as fast the build is as the other one, by its rate and by
 * the CPU time per operation of the process under test. Both are the median over the turns, with all turns.
 */
export async function against({ suites, builds, turns, args, log }) {
  const [before, after] = builds
  const rows = new Map()
  for (let turn = 0; turn < turns; turn++) {
    for (const suite of suites) {
      const found = new Map()
      for (const build of turn % 2 === 0 ? builds : builds.toReversed()) {
        log(`turn ${turn + 1} of ${turns}: ${suite}, ${build}`)
        found.set(build, await run(suite, build, args))
      }
      const old = found.get(before)
      for (const [key, own] of found.get(after)) add(rows, key, own, old.get(key))
    }
  }
  return [...rows.values()]
}

/** Formats the rows of `against`. */
export function comparisonTable(rows) {
  const cells = rows.map(({ suite, workload, name, rate, cpu }) => [
    `${suite}: ${workload}, ${name}`,
    ratios(rate),
    cpu.length === 0 ? '–' : ratios(cpu),
  ])
  return table(['workload', 'rate (turns)', 'CPU (turns)'], cells)
}

async function run(suite, build, args) {
  const all = [main, suite, '--json', '--alone', '--cpu', '--dist', build, ...args]
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'ignore'] })
  const parts = []
  child.stdout.on('data', part => parts.push(part))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${suite} with ${build} exited with code ${code}`)
  const { reports } = JSON.parse(Buffer.concat(parts).toString())
  const results = reports.flatMap(({ title, workloads }) =>
    workloads.flatMap(workload =>
      workload.results
        .filter(result => result.perSecond !== undefined)
        .map(result => [
          `${suite} ${title} ${workload.name} ${result.name}`,
          { suite, workload: nameOf(title, workload, workloads), ...result },
        ]),
    ),
  )
  return new Map(results)
}

/** A report with several workloads names each of them; the title of another report says it all. */
function nameOf(title, { name }, workloads) {
  return workloads.length > 1 ? `${title}, ${name}` : title
}

function add(rows, key, own, old) {
  if (old === undefined) return
  const { suite, workload, name } = own
  const row = rows.get(key) ?? { suite, workload, name, rate: [], cpu: [] }
  rows.set(key, row)
  row.rate.push(own.perSecond.median / old.perSecond.median)
  if (own.cpuMicros === undefined || old.cpuMicros === undefined) return
  row.cpu.push(old.cpuMicros.median / own.cpuMicros.median)
}

function ratios(values) {
  return `${spread(values).median.toFixed(2)} (${values.map(value => value.toFixed(2)).join(' ')})`
}

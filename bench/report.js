import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { isOurs, spread } from './measure.js'

/** Describes the machine of the measurement. */
export function machine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    load: loadavg().map(load => Number(load.toFixed(2))),
    date: new Date().toISOString().slice(0, 10),
  }
}

/** Returns whether other processes use the machine, which makes the figures unreliable. */
export function isBusy({ load, cores }) {
  return load[0] > 0.3 * cores
}

export function machineLine({ cpu, cores, memoryGiB, node, platform, load, date }) {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${platform}, Node ${node}, load ${load[0]}, ${date}`
}

/** Formats a table with one workload per row and one contestant per column. */
export function matrix(workloads) {
  const names = [...new Set(workloads.flatMap(({ results }) => results.map(({ name }) => name)))]
  const rows = workloads.map(workload => [
    workload.name,
    bytes(workload.bytes),
    ...names.map(name => cell(workload, name)),
  ])
  return table(['message', 'bytes', ...names], rows)
}

/** Formats a table with one contestant per row. */
export function list(workload) {
  const timed = workload.results.some(({ cpuMicros }) => cpuMicros !== undefined)
  const rows = workload.results.map(result => {
    if (result.failed !== undefined) return [result.name, 'failed', '', '', '']
    const { perSecond, ratio, cpuMicros } = result
    return [
      result.name,
      rate(perSecond.median),
      `${rate(perSecond.min)}–${rate(perSecond.max)}`,
      `${times(ratio)}${mark(workload, result)}`,
      cpuMicros === undefined ? '–' : cpuMicros.median.toFixed(1),
    ]
  })
  const head = ['contestant', '1/s', 'spread', '× floor (spread)', 'CPU µs each']
  const width = timed ? 5 : 4
  return table(
    head.slice(0, width),
    rows.map(row => row.slice(0, width)),
  )
}

export function table(head, rows) {
  const widths = head.map((title, column) =>
    Math.max(title.length, 3, ...rows.map(row => String(row[column]).length)),
  )
  const line = cells =>
    `| ${cells.map((text, column) => (column === 0 ? String(text).padEnd(widths[0]) : String(text).padStart(widths[column]))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** Returns whether the workload's target is reached; undefined if it has none. */
export function reached({ target, results }) {
  if (target === undefined) return undefined
  const own = results.find(({ name }) => name === 'trunkline')
  return own?.ratio !== undefined && own.ratio.median >= target
}

/**
 * A target of trunkline (or `who`) relative to another contestant of the same rounds, or to the floor: at
 * least `least` times as fast and, if given, at most `most` times. Undefined if one of them did not run.
 */
export function aim(results, { who = 'trunkline', than, least, most = Number.POSITIVE_INFINITY }) {
  const own = results.find(({ name }) => name === who)
  const other = results.find(
    ({ name, isFloor }) => name === than || (than === 'the floor' && isFloor),
  )
  if (other === undefined) return undefined
  const wanted = most === Number.POSITIVE_INFINITY ? `≥ ${least}` : `${least} to ${most}`
  const what = `${wanted} × ${than === 'the floor' ? other.name : than}`
  if (own?.rates === undefined || other.rates === undefined) return { who, what, isReached: false }
  const ratio = spread(own.rates.map((rate, round) => rate / other.rates[round]))
  return { who, what, ratio, isReached: ratio.median >= least && ratio.median <= most }
}

/** Returns the targets of a workload and whether each is reached. */
export function targetsOf(workload) {
  const target = reached(workload)
  const own = target === undefined ? [] : [{ isReached: target }]
  return [...own, ...(workload.aims ?? []).filter(one => one !== undefined)]
}

/** Formats the targets of a workload, one per line. */
export function aimLines({ aims = [] }) {
  return aims
    .filter(one => one !== undefined)
    .map(({ who = 'trunkline', what, ratio, isReached }) => {
      const found = ratio === undefined ? 'failed' : times(ratio)
      return `- ${who} ${what}: ${found} ${isReached ? 'ok' : 'MISSED'}`
    })
}

export function rate(perSecond) {
  if (perSecond >= 1e6) return `${(perSecond / 1e6).toFixed(2)}M`
  if (perSecond >= 1e3) return `${(perSecond / 1e3).toFixed(perSecond >= 1e5 ? 0 : 1)}k`
  return perSecond.toFixed(perSecond >= 10 ? 0 : 1)
}

export function bytes(size) {
  if (size >= 2 ** 20) return `${(size / 2 ** 20).toFixed(1)} MiB`
  if (size >= 1e4) return `${(size / 1024).toFixed(1)} KiB`
  return String(Math.round(size))
}

function cell(workload, name) {
  const result = workload.results.find(candidate => candidate.name === name)
  if (result === undefined) return '–'
  if (result.failed !== undefined) return 'failed'
  if (result === workload.results[0]) return `${rate(result.perSecond.median)}/s`
  return isOurs(name)
    ? `${times(result.ratio)}${mark(workload, result)}`
    : result.ratio.median.toFixed(2)
}

function times({ median, min, max }) {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
}

function mark(workload, result) {
  if (result.name !== 'trunkline' || workload.target === undefined) return ''
  return reached(workload) ? ` ≥ ${workload.target} ok` : ` < ${workload.target} MISSED`
}

import { beforeSuffix, spread } from './measure.js'
import { table } from './report.js'

/**
 * Compares two builds, from the reports of suites that ran with BENCH_AGAINST: how many times as fast the
 * build under test is as the other one, by its rate and by the CPU time per operation of the process under
 * test. Both are the median over the rounds; the quartiles show how certain it is.
 */
export function comparison(reports) {
  const rows = reports.flatMap(({ suite, title, workloads }) =>
    workloads.flatMap(({ name, results }) =>
      results
        .filter(result => !result.name.endsWith(beforeSuffix))
        .map(after => {
          const before = results.find(other => other.name === `${after.name}${beforeSuffix}`)
          const workload = workloads.length > 1 ? `${title}, ${name}` : title
          return [`${suite}: ${workload}, ${after.name}`, ...ratiosOf(before, after)]
        }),
    ),
  )
  return table(['workload', 'rate after ÷ before', 'CPU before ÷ after'], rows)
}

function ratiosOf(before, after) {
  const failed = after.failed ?? before.failed
  if (failed !== undefined) return [`failed: ${failed}`, '']
  const rates = after.rates.map((rate, round) => rate / before.rates[round])
  const cpu = after.cpu.map((micros, round) => before.cpu[round] / micros)
  return [quartiles(rates), cpu.length === 0 ? '–' : quartiles(cpu)]
}

function quartiles(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = share => sorted[Math.floor((sorted.length - 1) * share)]
  return `${spread(values).median.toFixed(2)} (${at(0.25).toFixed(2)}–${at(0.75).toFixed(2)})`
}

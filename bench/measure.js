import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
/** Collects garbage: `collect()` all of it, `collect({ type: 'minor' })` only the young generation. */
export const collect = runInNewContext('gc')

/**
 * Measures contestants against each other in interleaved rounds.
 *
 * Every round runs each contestant once for about `seconds`, in an order rotated from round to
 * round, so that a slow moment of the machine affects all of them. The first contestant is the floor,
 * or the fastest of the first `floors`. Ratios are computed within a round, and the median over the
 * rounds is reported. With `alone` only the floors and the contestants of this package run.
 *
 * A contestant is `{ name, run(count), open?(), check?(), prepare?(), cpu?(), close?() }`: `run`
 * does `count` operations and may return the seconds they took, `check` throws if the contestant returns wrong results,
 * `prepare` creates fresh inputs outside the timer, and `cpu` returns the CPU time in µs that the process
 * under test has used so far. A contestant that throws is dropped and reported with the reason.
 *
 * With the environment variable BENCH_AGAINST, only the contestants of this package run, each in two
 * processes that `twin()` creates: one measures the build in that folder, the other the build under test.
 */
export async function compare(contestants, { rounds, seconds, floors = 1, alone }) {
  const other = process.env.BENCH_AGAINST
  const field =
    other === undefined
      ? contestants.filter(({ name }, at) => !alone || at < floors || isOurs(name))
      : contestants.flatMap(contestant => pairOf(contestant, other))
  if (field.length === 0) return []
  const racers = field.map(contestant => ({ contestant, count: 1, rates: [], cpu: [] }))
  for (const racer of racers) await attempt(racer, () => warmUp(racer, seconds))
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < racers.length; turn++) {
      const racer = racers[(round + turn) % racers.length]
      if (racer.failed === undefined) await attempt(racer, () => measure(racer))
    }
  }
  for (const racer of racers) await attempt(racer, () => racer.contestant.close?.())
  const floor = racers.slice(0, floors).reduce((best, racer) => {
    return median(racer.rates) > median(best.rates) ? racer : best
  })
  return racers.map(racer => summarise(racer, floor))
}

/** Ends the name of a contestant that measures the build in BENCH_AGAINST. */
export const beforeSuffix = ' (before)'

const pairWarmUpMicros = 2_000_000

function pairOf({ name, twin }, dist) {
  if (twin === undefined) return []
  const [before, after] = [warmedUp(twin()), warmedUp(twin())]
  const open = async () => {
    const own = process.env.TRUNKLINE_DIST
    // Only while the contestant starts its processes, which inherit it.
    process.env.TRUNKLINE_DIST = dist
    try {
      await before.open()
    } finally {
      if (own === undefined) delete process.env.TRUNKLINE_DIST
      else process.env.TRUNKLINE_DIST = own
    }
  }
  return [
    { ...before, name: `${name}${beforeSuffix}`, open },
    { ...after, name },
  ]
}

/** Runs a contestant until the compiler has settled, measured in CPU time, which a busy machine delays. */
function warmedUp(contestant) {
  const check = async () => {
    await contestant.check?.()
    await contestant.prepare?.()
    const start = await contestant.cpu()
    while ((await contestant.cpu()) - start < pairWarmUpMicros) await contestant.run(512)
  }
  return { ...contestant, check }
}

/** Returns whether a contestant is this package, in any configuration. */
export function isOurs(name) {
  return name.startsWith('trunkline')
}

async function attempt(racer, step) {
  try {
    await step()
  } catch (error) {
    racer.failed = error instanceof Error ? error.message : String(error)
  }
}

/** Warms up until the compiler has settled, and returns how many operations fill a round. */
async function warmUp(racer, seconds) {
  const { contestant } = racer
  await contestant.open?.()
  await contestant.check?.()
  await contestant.prepare?.()
  let count = 1
  let spent = 0
  for (let settled = 0; settled < 3; ) {
    const took = await time(contestant, count)
    spent += took
    if (took < seconds / 2 && spent < 10 * seconds) count *= 2
    else settled += 1
    racer.count = Math.max(1, Math.round((count * seconds) / took))
  }
}

async function measure(racer) {
  const { contestant, count } = racer
  await contestant.prepare?.()
  // Garbage of the previous contestant must not be collected at the cost of this one. A full collection
  // would also age the compiled code of the waiting contestants.
  collect({ type: 'minor' })
  const before = await contestant.cpu?.()
  const took = await time(contestant, count)
  if (before !== undefined) racer.cpu.push(((await contestant.cpu()) - before) / count)
  racer.rates.push(count / took)
}

/** Returns the seconds that `count` operations take, as measured here or by the contestant itself. */
async function time(contestant, count) {
  const start = now()
  const running = contestant.run(count)
  const own = running === undefined ? undefined : await running
  return own ?? now() - start
}

// For work within one process, CPU time remains meaningful on a busy machine.
export const now = process.env.BENCH_CPU === undefined ? performanceSeconds : processorSeconds

function performanceSeconds() {
  return performance.now() / 1000
}

function processorSeconds() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function summarise({ contestant, rates, cpu, failed }, floor) {
  const { name } = contestant
  if (failed !== undefined) return { name, failed }
  const ratios = rates.map((rate, round) => rate / (floor.rates[round] ?? Number.NaN))
  return {
    name,
    isFloor: floor.contestant === contestant,
    rates,
    perSecond: spread(rates),
    ratio: spread(ratios),
    cpu,
    ...(cpu.length > 0 && { cpuMicros: spread(cpu) }),
  }
}

export function spread(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

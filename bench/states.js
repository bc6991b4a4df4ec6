import { collect, now, spread } from './measure.js'

/** How often the server is restarted, because the cost of a state varies a little between processes. */
const STARTS = 3
/** Measurements of each start, per requested round. */
const TURNS = 7

/**
 * Measures one contestant in two states, between which `turn()` switches: first, second, second, first,
 * for `seconds` each, repeatedly. Both states share a process and nearly the same moment, which reveals
 * differences that would be lost in the variance between two processes of the same program.
 *
 * Returns the same as `compare`, with the first state as the floor.
 */
export async function compareStates(contestant, names, { rounds, seconds }) {
  const states = names.map((name, at) => ({ name, isFloor: at === 0, rates: [], cpu: [] }))
  try {
    for (let start = 0; start < STARTS; start++) {
      await contestant.open()
      await contestant.check()
      await turns(contestant, states, rounds * TURNS, seconds)
      await contestant.close()
    }
  } catch (error) {
    await contestant.close()
    const failed = error instanceof Error ? error.message : String(error)
    return names.map(name => ({ name, failed }))
  }
  const [floor] = states
  return states.map(({ rates, cpu, ...state }) => ({
    ...state,
    rates,
    perSecond: spread(rates),
    ratio: spread(rates.map((rate, at) => rate / floor.rates[at])),
    cpuMicros: spread(cpu),
  }))
}

async function turns(contestant, [first, second], number, seconds) {
  let count = 1000
  // The compiler must have seen both states.
  for (let spent = 0, at = 0; spent < 20 * seconds || at % 2 === 1; at++) {
    const { took } = await measure(contestant, count)
    count = Math.max(100, Math.round((count * seconds) / took))
    spent += took
    await contestant.turn()
  }
  for (let at = 0; at < number; at++) {
    const before = await measure(contestant, count)
    await contestant.turn()
    const inside = [await measure(contestant, count), await measure(contestant, count)]
    await contestant.turn()
    keep(first, [before, await measure(contestant, count)], count)
    keep(second, inside, count)
  }
}

function keep({ rates, cpu }, measured, count) {
  const sum = of => measured.reduce((total, one) => total + of(one), 0)
  rates.push((measured.length * count) / sum(({ took }) => took))
  cpu.push(sum(({ micros }) => micros) / (measured.length * count))
}

async function measure(contestant, count) {
  await contestant.prepare?.()
  collect({ type: 'minor' })
  const before = await contestant.cpu()
  const start = now()
  await contestant.run(count)
  const took = now() - start
  return { took, micros: (await contestant.cpu()) - before }
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Balancer,
  type BalanceStrategy,
  balancers,
  type Candidate,
  loadOf,
  makeBalancer,
} from './balance.ts'

const names = Object.keys(balancers) as BalanceStrategy[]

type Changeable = { -readonly [K in keyof Candidate]: Candidate[K] }

function candidate(key: string, members: Partial<Candidate> = {}): Changeable {
  return { key, weight: 1, inFlight: 0, errorRate: 0, latencyMs: 0, ...members }
}

/** A random number generator that is the same in every run. */
function chance(seed = 1): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const balanceOf = (name: BalanceStrategy): Balancer<Candidate> =>
  makeBalancer(name, { random: chance() })

/** How often each is chosen. */
function chosen(
  balance: Balancer<Candidate>,
  candidates: readonly Candidate[],
  times: number,
): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { key } of candidates) counts[key] = 0
  for (let call = 0; call < times; call++) {
    const { key = '' } = balance(candidates, `caller-${call}`) ?? {}
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

describe.each(names)('%s', name => {
  test('chooses none of none, and the only one of one', () => {
    const balance = balanceOf(name)
    const only = candidate('a', { weight: 0, errorRate: 1 })
    expect(balance([])).toBeUndefined()
    expect(balance([only])).toBe(only)
    expect(balance([only], 'key')).toBe(only)
  })

  test('chooses equals equally often', () => {
    const three = ['a', 'b', 'c'].map(key => candidate(key, { latencyMs: 5, inFlight: 1 }))
    for (const count of Object.values(chosen(balanceOf(name), three, 3000))) {
      expect(count).toBeGreaterThan(900)
      expect(count).toBeLessThan(1100)
    }
  })

  test('always chooses one of the candidates', () => {
    const any = fc.record({
      weight: fc.integer({ min: 0, max: 5 }),
      inFlight: fc.nat(200),
      errorRate: fc.double({ min: 0, max: 1, noNaN: true }),
      latencyMs: fc.integer({ min: 0, max: 10_000 }),
    })
    fc.assert(
      fc.property(fc.array(fc.array(any, { minLength: 1 }), { maxLength: 10 }), lists => {
        const balance = balanceOf(name)
        for (const list of lists) {
          const candidates = list.map((members, at) => candidate(`${at}`, members))
          expect(candidates).toContain(balance(candidates))
          expect(candidates).toContain(balance(candidates, 'somebody'))
        }
      }),
    )
  })
})

describe('in turn', () => {
  test('round-robin skips none while each call of one is retried elsewhere', () => {
    const balance = balanceOf('round-robin')
    const all = ['a', 'b', 'c'].map(key => candidate(key))
    const others = all.slice(1)
    const counts = new Map<string, number>()
    for (let call = 0; call < 30; call++) {
      const first = balance(all)
      const taken = first?.key === 'a' ? balance(others) : first
      counts.set(taken?.key ?? '', (counts.get(taken?.key ?? '') ?? 0) + 1)
    }
    expect(counts).toEqual(
      new Map([
        ['b', 15],
        ['c', 15],
      ]),
    )
  })

  test('round-robin goes through them in order, and continues when one has left', () => {
    const balance = balanceOf('round-robin')
    const [a, b, c] = [candidate('a'), candidate('b'), candidate('c')]
    const keys = [
      [a, b, c],
      [a, b, c],
      [a, b, c],
      [a, b, c],
      [a, b],
      [a, b],
      [a, b],
    ].map(list => balance(list)?.key)
    expect(keys).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'b'])
  })

  test('weighted mixes them evenly, in proportion to their weights', () => {
    const balance = balanceOf('weighted')
    const three = [
      candidate('a', { weight: 5 }),
      candidate('b', { weight: 1 }),
      candidate('c', { weight: 1 }),
    ]
    const keys = Array.from({ length: 14 }, () => balance(three)?.key)
    expect(keys.join('')).toBe('aabacaaaabacaa')
  })

  test('weighted gives nothing to one without weight, and lets all take turns where none has any', () => {
    const [a, b] = [candidate('a', { weight: 0 }), candidate('b')]
    expect(chosen(balanceOf('weighted'), [a, b], 10)).toEqual({ a: 0, b: 10 })
    b.weight = 0
    expect(chosen(balanceOf('weighted'), [a, b], 10)).toEqual({ a: 5, b: 5 })
  })

  test('weighted gives nothing to one without weight when a heavy one leaves either', () => {
    const balance = balanceOf('weighted')
    const heavy = candidate('heavy', { weight: 100 })
    const rest = [candidate('none', { weight: 0 }), candidate('light')]
    for (let turn = 0; turn < 51; turn++) balance([heavy, ...rest])
    expect(chosen(balance, rest, 100)).toEqual({ none: 0, light: 100 })
  })

  test('weighted follows weights that change, and drops those that are gone', () => {
    const balance = balanceOf('weighted')
    const [a, b] = [candidate('a'), candidate('b')]
    for (let gone = 0; gone < 1000; gone++) balance([a, b, candidate(`gone-${gone}`)])
    b.weight = 3
    const counts = chosen(balance, [a, b], 400)
    expect(counts.a).toBeGreaterThan(90)
    expect(counts.a).toBeLessThan(110)
  })
})

describe('by load', () => {
  test('least-busy takes the one with the fewest calls for its weight', () => {
    const balance = balanceOf('least-busy')
    const a = candidate('a', { inFlight: 4 })
    const b = candidate('b', { inFlight: 8, weight: 3 })
    expect(balance([a, b])).toBe(b)
    b.inFlight = 13
    expect(balance([a, b])).toBe(a)
    expect(balance([a, candidate('idle', { weight: 0 })])).toBe(a)
  })

  test('least-busy is fair to equals that stand side by side', () => {
    const list = [candidate('a', { inFlight: 9 }), candidate('b'), candidate('c'), candidate('d')]
    const counts = chosen(balanceOf('least-busy'), list, 3000)
    expect(counts.a).toBe(0)
    for (const key of ['b', 'c', 'd']) expect(counts[key]).toBeGreaterThan(900)
  })

  test.each<[string, Partial<Candidate>, Partial<Candidate>]>([
    ['fewer calls', { inFlight: 1, latencyMs: 10 }, { inFlight: 5, latencyMs: 10 }],
    ['quicker ones', { inFlight: 2, latencyMs: 10 }, { inFlight: 1, latencyMs: 50 }],
    ['fewer failures', { latencyMs: 20 }, { latencyMs: 2, errorRate: 0.95 }],
    ['more weight', { inFlight: 5, latencyMs: 10, weight: 4 }, { inFlight: 2, latencyMs: 10 }],
    ['fewer calls, where one was never measured', { latencyMs: 10 }, { inFlight: 3 }],
  ])('two-choices prefers %s', (_, better, worse) => {
    const [good, bad] = [candidate('good', better), candidate('bad', worse)]
    const balance = balanceOf('two-choices')
    expect(chosen(balance, [good, bad], 20)).toEqual({ good: 20, bad: 0 })
    expect(chosen(balance, [bad, good], 20)).toEqual({ good: 20, bad: 0 })
  })

  test('two-choices never takes the worst of several, and does not always take the best', () => {
    const list = [1, 2, 3, 4].map(inFlight => candidate(`${inFlight}`, { inFlight }))
    const counts = chosen(balanceOf('two-choices'), list, 1000)
    expect(counts['4']).toBe(0)
    expect(counts['1']).toBeGreaterThan(counts['2'] ?? 0)
    expect(counts['2']).toBeGreaterThan(100)
  })

  test.each<[string, Partial<Candidate>, number]>([
    ['nothing to do', {}, 0],
    ['half of a hundred calls', { inFlight: 50 }, 0.25],
    ['more than a hundred calls', { inFlight: 900 }, 0.5],
    ['one failure in twenty', { errorRate: 0.05 }, 0.15],
    ['only failures', { errorRate: 1 }, 0.3],
    ['five milliseconds', { latencyMs: 5 }, 0.1],
    ['everything at its worst', { inFlight: 100, errorRate: 1, latencyMs: 1000 }, 1],
  ])('the load of one with %s', (_, members, load) => {
    expect(loadOf(candidate('a', members))).toBeCloseTo(load)
  })

  test('two-choices takes none without weight where another has some', () => {
    const balance = balanceOf('two-choices')
    const three = [
      candidate('a', { weight: 0 }),
      candidate('b', { weight: 0 }),
      candidate('c', { inFlight: 50, latencyMs: 100 }),
    ]
    expect(chosen(balance, three, 100)).toEqual({ a: 0, b: 0, c: 100 })
    expect(chosen(balance, three.slice(0, 2), 100).a).toBeGreaterThan(30)
  })

  test('adaptive takes the one with the least load', () => {
    const busy = candidate('busy', { inFlight: 50 })
    const failing = candidate('failing', { errorRate: 0.2 })
    const slow = candidate('slow', { latencyMs: 900 })
    expect(balanceOf('adaptive')([busy, failing, slow])).toBe(slow)
  })
})

describe('by a key', () => {
  const keys = Array.from({ length: 2000 }, (_, at) => `user-${at}`)
  const placesOf = (candidates: readonly Candidate[]) => {
    const balance = balanceOf('hash')
    return new Map(keys.map(key => [key, balance(candidates, key)?.key]))
  }

  test('the same key goes to the same instance, in every process and in any order', () => {
    const list = ['a', 'b', 'c', 'd'].map(key => candidate(key))
    expect(placesOf(list)).toEqual(placesOf([...list].reverse()))
  })

  test('only the keys of an instance that left go elsewhere', () => {
    const some = fc.uniqueArray(fc.tuple(fc.string(), fc.integer({ min: 0, max: 9 })), {
      minLength: 2,
      maxLength: 12,
      selector: ([key]) => key,
    })
    fc.assert(
      fc.property(some, fc.nat(), fc.array(fc.string()), (list, which, texts) => {
        const all = list.map(([key, weight]) => candidate(key, { weight }))
        const left = all[which % all.length]
        const rest = all.filter(one => one !== left)
        const balance = balanceOf('hash')
        for (const text of texts) {
          const before = balance(all, text)
          // A key of one without weight is only there because nobody else was.
          if (before !== left) expect(balance(rest, text)).toBe(before)
        }
      }),
    )
  })

  test('the keys of one that left are spread over all that stay', () => {
    const list = ['a', 'b', 'c', 'd'].map(key => candidate(key))
    const before = placesOf(list)
    const after = placesOf(list.slice(1))
    const moved = keys.filter(key => before.get(key) === 'a')
    for (const place of ['b', 'c', 'd']) {
      const got = moved.filter(key => after.get(key) === place).length
      expect(got / moved.length).toBeGreaterThan(0.25)
      expect(got / moved.length).toBeLessThan(0.42)
    }
  })

  test('each has as many keys as its weight says', () => {
    const list = [candidate('a'), candidate('b', { weight: 3 }), candidate('c', { weight: 0 })]
    const places = [...placesOf(list).values()]
    const share = places.filter(place => place === 'b').length / keys.length
    expect(share).toBeGreaterThan(0.72)
    expect(share).toBeLessThan(0.78)
    expect(places).not.toContain('c')
  })

  test('a call without a key is balanced by two choices', () => {
    const list = [candidate('busy', { inFlight: 9 }), candidate('idle')]
    const balance = balanceOf('hash')
    expect(Array.from({ length: 10 }, () => balance(list)?.key)).not.toContain('busy')
  })
})

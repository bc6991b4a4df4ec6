import type { BalanceName } from '../options.ts'
import { hashSeed, hashShare } from './hash.ts'

/** What is looked at when one of several instances is chosen. */
export interface Candidate {
  /** What tells it from the others. */
  readonly key: string
  /** How much it gets beside others. One with 0 gets calls only where all have 0. */
  readonly weight: number
  /** Calls it is answering. */
  readonly inFlight: number
  /** The share of its calls that failed lately, from 0 to 1. */
  readonly errorRate: number
  /** How long its calls took lately; 0 where that is not known. */
  readonly latencyMs: number
}

/**
 * Chooses one of the candidates, and undefined only where there are none. The key is what `hash` goes
 * by; the others do not look at it.
 */
export type Balance<C extends Candidate> = (candidates: readonly C[], key?: string) => C | undefined

/** Where chance comes from, and what a candidate is hashed by. */
export interface BalanceOptions<C extends Candidate = Candidate> {
  /** A number from 0 (included) to 1 (not included). */
  readonly random: () => number
  /** What `hash` knows a candidate by, the same in every process, whoever else is there; its key unless said. */
  readonly placeOf?: (candidate: C) => string
}

/**
 * Makes what chooses among the instances of one server; one that takes turns remembers whose it was.
 *
 * - `round-robin`: in turn, however large their weights.
 * - `weighted`: in turn, in proportion to their weights and evenly mixed.
 * - `least-busy`: the one that is answering the fewest calls for its weight.
 * - `two-choices`: of two taken by chance the one where a call is likely to be over first.
 * - `adaptive`: the one with the least load, in which calls, failures and latency have a part.
 * - `hash`: the same one for the same key, as long as it is there; without a key as `two-choices`.
 *
 * Where several are equally good each is as likely.
 */
export function makeBalance<C extends Candidate>(
  name: BalanceName,
  { random, placeOf = ({ key }) => key }: BalanceOptions<C>,
): Balance<C> {
  switch (name) {
    case 'round-robin':
      return roundRobin()
    case 'weighted':
      return weighted()
    case 'least-busy':
      return lowest<C>(busyness, random)
    case 'two-choices':
      return candidates => twoChoices(candidates, random)
    case 'adaptive':
      return lowest<C>(adaptiveLoad, random)
    case 'hash':
      return (candidates, key) =>
        key === undefined ? twoChoices(candidates, random) : rendezvous(candidates, key, placeOf)
  }
}

/**
 * How loaded an instance is, from 0 to 1: half of it says how many calls it has, of a hundred; three
 * tenths how many fail, of one in ten; two tenths how long they take, of ten milliseconds.
 */
export function loadOf(candidate: Candidate): number {
  return (
    0.5 * Math.min(candidate.inFlight / 100, 1) +
    0.3 * Math.min(candidate.errorRate * 10, 1) +
    0.2 * Math.min(candidate.latencyMs / 10, 1)
  )
}

function adaptiveLoad(candidate: Candidate): number {
  return perWeight(loadOf(candidate), candidate)
}

function busyness(candidate: Candidate): number {
  return perWeight(candidate.inFlight, candidate)
}

// Not 0 for something: one without weight is worse than any other, however little it has to do.
function perWeight(cost: number, candidate: Candidate): number {
  const { weight } = candidate
  return weight > 0 ? cost / weight : Number.POSITIVE_INFINITY
}

function roundRobin<C extends Candidate>(): Balance<C> {
  // When each was last chosen. Counting places in the list instead would pass over the one behind any
  // that fails, since the next choice is made of a list without it.
  const chosen = new Map<string, number>()
  let choices = 0
  return candidates => {
    const able = candidates.filter(({ weight }) => weight > 0)
    let best: C | undefined
    let longest = Number.POSITIVE_INFINITY
    for (const candidate of able.length > 0 ? able : candidates) {
      const last = chosen.get(candidate.key) ?? 0
      if (last >= longest) continue
      longest = last
      best = candidate
    }
    if (best !== undefined) chosen.set(best.key, ++choices)
    return best
  }
}

/**
 * Each candidate earns its weight with every choice; the richest is chosen and pays what all earned
 * together. In the long run each is chosen in proportion, and never many times in a row.
 */
function weighted<C extends Candidate>(): Balance<C> {
  const earned = new Map<string, number>()
  return candidates => {
    let best: C | undefined
    let most = Number.NEGATIVE_INFINITY
    let total = 0
    for (const { weight } of candidates) total += weight
    for (const candidate of candidates) {
      const { key, weight } = candidate
      // Who earns nothing may be the richest all the same, when somebody has left whom others had paid.
      if (weight === 0 && total > 0) continue
      const has = (earned.get(key) ?? 0) + weight
      earned.set(key, has)
      if (has > most) {
        most = has
        best = candidate
      }
    }
    if (best === undefined) return undefined
    // Where nobody earns anything each pays 1, and so they take turns.
    earned.set(best.key, most - (total || 1))
    if (earned.size > 2 * candidates.length + 16) prune(earned, candidates)
    return best
  }
}

/** Forgets the instances that are no longer there. */
function prune(earned: Map<string, number>, candidates: readonly Candidate[]): void {
  const present = new Set(candidates.map(candidate => candidate.key))
  for (const key of earned.keys()) if (!present.has(key)) earned.delete(key)
}

function lowest<C extends Candidate>(
  cost: (candidate: C) => number,
  random: () => number,
): Balance<C> {
  return candidates => {
    let best: C | undefined
    let least = Number.POSITIVE_INFINITY
    let equals = 0
    for (const candidate of candidates) {
      const costs = cost(candidate)
      if (costs < least || best === undefined) {
        best = candidate
        least = costs
        equals = 1
      } else if (costs === least && random() * ++equals < 1) {
        // The third of three equals takes the place with one chance in three: each has the same.
        best = candidate
      }
    }
    return best
  }
}

function twoChoices<C extends Candidate>(
  candidates: readonly C[],
  random: () => number,
): C | undefined {
  const { length } = candidates
  if (length < 2) return candidates[0]
  const at = Math.floor(random() * length)
  const step = 1 + Math.floor(random() * (length - 1))
  const one = candidates[at]
  const other = candidates[(at + step) % length]
  if (one === undefined || other === undefined) return one
  // One that was never measured must not seem infinitely quick, or all calls would go there until the
  // first is answered: then only what they have to do is compared.
  const oneMs = one.latencyMs
  const otherMs = other.latencyMs
  const isMeasured = oneMs > 0 && otherMs > 0
  const difference = isMeasured
    ? expectedMs(one, oneMs) - expectedMs(other, otherMs)
    : expectedMs(one, 1) - expectedMs(other, 1)
  const better = difference <= 0 ? one : other
  if (better.weight > 0) return better
  // These two are to get nothing unless all are.
  const able = candidates.filter(({ weight }) => weight > 0)
  return able.length > 0 ? twoChoices(able, random) : better
}

/**
 * How long it takes until a call sent there now is over: those before it and itself, at the usual
 * latency, and again for each time that it is likely to fail.
 */
function expectedMs(candidate: Candidate, latencyMs: number): number {
  const once = (candidate.inFlight + 1) * latencyMs
  return perWeight(once / Math.max(0.01, 1 - candidate.errorRate), candidate)
}

/**
 * The candidate with the highest number made of its place and the given key. When one is taken away only
 * its own keys get another; when one is added it only takes. With weights each gets its share.
 */
function rendezvous<C extends Candidate>(
  candidates: readonly C[],
  key: string,
  placeOf: (candidate: C) => string,
): C | undefined {
  const seed = hashSeed(key)
  let best: C | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const candidate of candidates) {
    // The logarithm makes the chance of being the highest proportional to the weight.
    const share = hashShare(seed, placeOf(candidate)) || Number.MIN_VALUE
    const { weight } = candidate
    const score = weight > 0 ? -weight / Math.log(share) : share - 1
    if (score > most || (score === most && best !== undefined && candidate.key < best.key)) {
      most = score
      best = candidate
    }
  }
  return best
}

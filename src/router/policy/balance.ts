import { hashSeed, hashShare } from './hash.ts'

/** What the choice between instances depends on. */
export interface Candidate {
  /** Identifies it among the candidates. */
  readonly key: string
  /** Its share of calls relative to the others. With 0 it gets calls only if all candidates have 0. */
  readonly weight: number
  /** Calls in flight. */
  readonly inFlight: number
  /** The share of its recent calls that failed, from 0 to 1. */
  readonly errorRate: number
  /** The mean duration of its recent calls; 0 if unknown. */
  readonly latencyMs: number
}

/** Chooses one of the candidates; undefined only if there is none. `key` is what `hash` chooses by. */
export type Balancer<C extends Candidate> = (
  candidates: readonly C[],
  key?: string,
) => C | undefined

export interface BalancerOptions<C extends Candidate = Candidate> {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /** Returns what identifies a candidate for `hash`, the same in every process. By default its key. */
  readonly hashIdOf?: (candidate: C) => string
}

type Options<C extends Candidate> = Required<BalancerOptions<C>>

type MakeBalancer = <C extends Candidate>(options: Options<C>) => Balancer<C>

/** The balancing strategies by name: a strategy is a row. Equally good candidates are equally likely. */
export const balancers = {
  /** In turn, whatever the weights. */
  'round-robin': roundRobin,
  /** In turn, in proportion to the weights and evenly interleaved. */
  weighted,
  /** The candidate with the fewest calls in flight per weight. */
  'least-busy': <C extends Candidate>({ random }: Options<C>) => lowest<C>(busyness, random),
  /** Power of two choices: of two random candidates, the one with the lower expected completion time. */
  'two-choices':
    ({ random }) =>
    candidates =>
      twoChoices(candidates, random),
  /** The candidate with the lowest load: calls in flight, failures and latency together. */
  adaptive: <C extends Candidate>({ random }: Options<C>) => lowest<C>(adaptiveLoad, random),
  /** The same candidate for the same key, as long as it is there; without a key as `two-choices`. */
  hash:
    ({ random, hashIdOf }) =>
    (candidates, key) =>
      key === undefined ? twoChoices(candidates, random) : rendezvous(candidates, key, hashIdOf),
} as const satisfies Readonly<Record<BalanceStrategy, MakeBalancer>>

/** How calls are distributed over the instances of one server. */
export type BalanceStrategy =
  | 'round-robin'
  | 'weighted'
  | 'least-busy'
  | 'two-choices'
  | 'adaptive'
  | 'hash'

/** Makes a balancer for the instances of one server. A balancer may have state, such as whose turn it is. */
export function makeBalancer<C extends Candidate>(
  strategy: BalanceStrategy,
  { random, hashIdOf = ({ key }) => key }: BalancerOptions<C>,
): Balancer<C> {
  const make: MakeBalancer = balancers[strategy]
  return make({ random, hashIdOf })
}

/**
 * The load of an instance, from 0 to 1: one half for calls in flight, of a hundred; three tenths for the
 * error rate, of one in ten; two tenths for the latency, of ten milliseconds.
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

// A candidate without weight is worse than any other, however little load it has.
function perWeight(cost: number, candidate: Candidate): number {
  const { weight } = candidate
  return weight > 0 ? cost / weight : Number.POSITIVE_INFINITY
}

function roundRobin<C extends Candidate>(): Balancer<C> {
  // When each was last chosen. A position in the list instead would skip the candidate after one that
  // fails, because the next choice is made from a list without it.
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
 * Smooth weighted round-robin: every choice adds to the credit of each candidate its weight; the one with
 * the most credit is chosen, and the sum of all weights is subtracted from its credit. In the long run each
 * is chosen in proportion, and never many times in a row.
 */
function weighted<C extends Candidate>(): Balancer<C> {
  const credits = new Map<string, number>()
  return candidates => {
    let best: C | undefined
    let most = Number.NEGATIVE_INFINITY
    let total = 0
    for (const { weight } of candidates) total += weight
    for (const candidate of candidates) {
      const { key, weight } = candidate
      // A candidate without weight may have the most credit nevertheless, after another one was removed.
      if (weight === 0 && total > 0) continue
      const credit = (credits.get(key) ?? 0) + weight
      credits.set(key, credit)
      if (credit > most) {
        most = credit
        best = candidate
      }
    }
    if (best === undefined) return undefined
    // Without any weights 1 is subtracted, so they take turns.
    credits.set(best.key, most - (total || 1))
    if (credits.size > 2 * candidates.length + 16) prune(credits, candidates)
    return best
  }
}

/** Removes the instances that no longer exist. */
function prune(credits: Map<string, number>, candidates: readonly Candidate[]): void {
  const present = new Set(candidates.map(candidate => candidate.key))
  for (const key of credits.keys()) if (!present.has(key)) credits.delete(key)
}

function lowest<C extends Candidate>(
  cost: (candidate: Candidate) => number,
  random: () => number,
): Balancer<C> {
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
        // The third of three equals is taken with a chance of one in three: all have the same chance.
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
  // A candidate without measured latency must not seem infinitely fast, or all calls would go there until
  // the first completes: then only the calls in flight are compared.
  const oneMs = one.latencyMs
  const otherMs = other.latencyMs
  const isMeasured = oneMs > 0 && otherMs > 0
  const difference = isMeasured
    ? expectedMs(one, oneMs) - expectedMs(other, otherMs)
    : expectedMs(one, 1) - expectedMs(other, 1)
  const better = difference <= 0 ? one : other
  if (better.weight > 0) return better
  // Candidates without weight get nothing unless all are without.
  const able = candidates.filter(({ weight }) => weight > 0)
  return able.length > 0 ? twoChoices(able, random) : better
}

/**
 * The expected time until a call that is sent now completes: (calls in flight + 1) × latency, divided by the
 * share of calls that succeed.
 */
function expectedMs(candidate: Candidate, latencyMs: number): number {
  const once = (candidate.inFlight + 1) * latencyMs
  return perWeight(once / Math.max(0.01, 1 - candidate.errorRate), candidate)
}

/**
 * Rendezvous hashing: the candidate with the highest hash of its id and the key. Removing a candidate moves
 * only its own keys; an added one only takes keys. Weights are honored.
 */
function rendezvous<C extends Candidate>(
  candidates: readonly C[],
  key: string,
  hashIdOf: (candidate: C) => string,
): C | undefined {
  const seed = hashSeed(key)
  let best: C | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const candidate of candidates) {
    // The logarithm makes the chance of being the highest proportional to the weight.
    const share = hashShare(seed, hashIdOf(candidate)) || Number.MIN_VALUE
    const { weight } = candidate
    const score = weight > 0 ? -weight / Math.log(share) : share - 1
    if (score > most || (score === most && best !== undefined && candidate.key < best.key)) {
      most = score
      best = candidate
    }
  }
  return best
}

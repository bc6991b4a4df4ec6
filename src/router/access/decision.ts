import type { Principal } from '../../jsonrpc/channel.ts'
import type { NamedParams } from '../../server/request.ts'
import { ownMember } from '../../util/objects.ts'
import { claimOf, claimValues, isClaimValue } from './claims.ts'
import type { ConditionMatch } from './match.ts'
import type { PolicyWhen } from './policy.ts'

/**
 * What a policy decides about one caller and one tool, prompt or resource.
 *
 * - `allowed`: the caller may use it.
 * - `challenged`: the caller lacks only scopes. It sees the entry, and learns which scopes it needs.
 * - `refused`: the caller may use it, but not with these arguments.
 * - `hidden`: for the caller it does not exist.
 */
export type AccessOutcome = 'allowed' | 'challenged' | 'refused' | 'hidden'

/** A decision of a policy, with its reason. */
export interface AccessDecision {
  /** What is decided. */
  readonly outcome: AccessOutcome
  /** The name of the rule that decides; undefined for the default of the policy. */
  readonly rule: string | undefined
  /** The scopes that a caller needs who is challenged. */
  readonly scopes: readonly string[]
  /** Whether another decision is possible, depending on the arguments of a call. */
  readonly isConditional: boolean
}

/** A rule as decisions need it; conditions are given by their index. */
export interface DecisiveRule {
  readonly name: string
  readonly isDeny: boolean
  readonly who: number
  readonly unless: number | undefined
  readonly when: PolicyWhen | undefined
}

/** What a decision is based on. */
export interface Facts {
  /** The rules that match the entry, in the order of the policy. */
  readonly rules: readonly DecisiveRule[]
  /** What holds where no rule decides. */
  readonly isOpen: boolean
  /** Whether each condition of the policy holds for the caller. */
  readonly matches: readonly ConditionMatch[]
  readonly principal: Principal | undefined
  /** The arguments of a call; undefined where the decision is about any arguments, as in a list. */
  readonly args: NamedParams | undefined
}

/** Decides: what a rule denies is denied, then what a rule allows is allowed, and then the default holds. */
export function decide(facts: Facts): AccessDecision {
  const denied = deniedBy(facts)
  if (denied.rule !== undefined && denied.scopes.length === 0) return hidden(denied.rule)
  const allowed = allowedBy(facts)
  if (allowed.rule === undefined && !facts.isOpen) return hidden(undefined)
  const scopes = [...new Set([...denied.scopes, ...allowed.scopes])]
  return {
    outcome: scopes.length === 0 ? 'allowed' : 'challenged',
    rule: denied.rule ?? allowed.rule,
    scopes,
    isConditional: denied.isConditional || allowed.isConditional,
  }
}

/** The part of one effect, `allow` or `deny`, in a decision. */
interface Part {
  /** The rule that decides; undefined if none does. */
  readonly rule: string | undefined
  /** The scopes by which the caller would be allowed. */
  readonly scopes: readonly string[]
  readonly isConditional: boolean
}

/** Returns the rule that denies. With scopes if those would lift every rule that does. */
function deniedBy(facts: Facts): Part {
  let rule: string | undefined
  let isConditional = false
  const scopes: string[] = []
  for (const one of facts.rules) {
    if (!one.isDeny) continue
    // A condition that cannot be evaluated must not open anything, so the rule applies then.
    const applies = matchOf(facts, one.who)
    if (applies !== true && applies !== 'unknown') continue
    const lifted = one.unless === undefined ? false : matchOf(facts, one.unless)
    if (lifted === true) continue
    const holds = one.when === undefined ? true : whenHolds(one.when, facts)
    if (holds === false) continue
    if (holds === 'open') isConditional = true
    else if (typeof lifted === 'object') {
      rule ??= one.name
      scopes.push(...lifted.scopes)
    } else return { rule: one.name, scopes: [], isConditional }
  }
  return { rule, scopes, isConditional }
}

/** Returns the rule that allows: one that holds, else the one with the fewest missing scopes. */
function allowedBy(facts: Facts): Part {
  let best: Part | undefined
  let fewest = Number.POSITIVE_INFINITY
  let isConditional = false
  for (const { isDeny, who, when, name: rule } of facts.rules) {
    if (isDeny) continue
    const match = matchOf(facts, who)
    if (match === false || match === 'unknown') continue
    const holds = when === undefined ? true : whenHolds(when, facts)
    if (holds === false || holds === 'unknown') continue
    const { scopes, missing } = match === true ? noScopes : match
    if (holds === true && missing === 0) return { rule, scopes, isConditional: false }
    if (holds === 'open') isConditional = true
    if (missing >= fewest) continue
    fewest = missing
    best = { rule, scopes, isConditional }
  }
  if (facts.isOpen) return { rule: undefined, scopes: [], isConditional: false }
  return { rule: best?.rule, scopes: best?.scopes ?? [], isConditional }
}

function matchOf({ matches }: Facts, condition: number): ConditionMatch {
  return matches[condition] ?? false
}

const noScopes = { scopes: [], missing: 0 }

/**
 * Whether an argument is what a rule says: `'open'` before the arguments are known, and `'unknown'` if the claim
 * or the argument is missing or of another type.
 */
function whenHolds(
  { argument, is }: PolicyWhen,
  { principal, args }: Facts,
): boolean | 'unknown' | 'open' {
  const values = claimValues(claimOf(principal, is.claim))
  if (values === undefined) return 'unknown'
  if (args === undefined) return 'open'
  const value = ownMember(args, argument)
  if (isClaimValue(value) && values.includes(value)) return true
  return values.some(one => typeof one === typeof value) ? false : 'unknown'
}

function hidden(rule: string | undefined): AccessDecision {
  return { outcome: 'hidden', rule, scopes: [], isConditional: false }
}

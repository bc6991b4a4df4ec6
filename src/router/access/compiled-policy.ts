import type { Principal } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { matcher } from '../catalog/glob.ts'
import { Access } from './access.ts'
import { AccessProfile } from './access-profile.ts'
import { checkPolicy } from './check-policy.ts'
import { claimOf, claimValues } from './claims.ts'
import { type Condition, conditionOf } from './condition.ts'
import type { DecisiveRule } from './decision.ts'
import { type ConditionMatch, matchKey } from './match.ts'
import { PatternIndex } from './pattern-index.ts'
import type { AccessPolicy, PolicyCondition, PolicyRule } from './policy.ts'
import type { Subject } from './subject.ts'

interface CompiledRule extends DecisiveRule {
  /** Whether the rule is about a server; undefined if it is about all. */
  readonly isOf: ((server: string) => boolean) | undefined
}

/** A policy in the form that decisions are made with. It never changes. */
export class CompiledPolicy {
  /** What holds where no rule decides. */
  readonly isOpen: boolean
  readonly #rules: readonly CompiledRule[]
  readonly #patterns: Readonly<Record<Subject['kind'], PatternIndex>>
  /** The different conditions of all rules. */
  readonly #conditions: readonly Condition[]
  /** The claims that arguments are compared with. */
  readonly #comparedClaims: readonly string[]
  readonly #profiles = new Map<string, AccessProfile>()
  readonly #accesses = new WeakMap<Principal, Access>()
  #anonymous: Access | undefined

  /** Throws a TypeError that names the rule and what is wrong with it. */
  constructor(policy: AccessPolicy) {
    checkPolicy(policy)
    this.isOpen = policy.default !== 'deny'
    this.#patterns = {
      tool: new PatternIndex(),
      prompt: new PatternIndex(),
      resource: new PatternIndex(),
    }
    const conditions = new DistinctConditions()
    this.#rules = policy.rules.map((rule, at) => {
      this.#patterns.tool.add(rule.allow ?? rule.deny ?? [], at)
      this.#patterns.prompt.add(rule.prompts ?? [], at)
      this.#patterns.resource.add(rule.resources ?? [], at)
      return compiled(rule, conditions)
    })
    this.#conditions = conditions.list
    const claims = policy.rules.flatMap(({ when }) => (when === undefined ? [] : [when.is.claim]))
    this.#comparedClaims = [...new Set(claims)]
  }

  /** Returns what a caller may do. The same object for the same principal; undefined stands for an anonymous one. */
  accessOf(principal: Principal | undefined): Access {
    if (principal === undefined) {
      this.#anonymous ??= new Access(this.#profileOf(undefined), undefined)
      return this.#anonymous
    }
    let access = this.#accesses.get(principal)
    if (access === undefined) {
      access = new Access(this.#profileOf(principal), principal)
      this.#accesses.set(principal, access)
    }
    return access
  }

  /** Returns the rules about a tool, prompt or resource, in their order. */
  rulesFor({ kind, name, server }: Subject): readonly DecisiveRule[] {
    const rules: DecisiveRule[] = []
    for (const at of this.#patterns[kind].find(name)) {
      const rule = this.#rules[at]
      if (rule !== undefined && rule.isOf?.(server) !== false) rules.push(rule)
    }
    return rules
  }

  /** Whether a rule allows anything at a server that these matches do not exclude. */
  mayAllow(server: string, matches: readonly ConditionMatch[]): boolean {
    if (this.isOpen) return true
    return this.#rules.some(({ isDeny, isOf, who }) => {
      const match = matches[who]
      return !isDeny && isOf?.(server) !== false && match !== false && match !== 'unknown'
    })
  }

  /** Callers for whom the same conditions hold see the same entries, so they share a profile. */
  #profileOf(principal: Principal | undefined): AccessProfile {
    const matches = this.#conditions.map(holds => holds(principal))
    const compared = this.#comparedClaims.map(
      claim => claimValues(claimOf(principal, claim)) !== undefined,
    )
    const key = [...matches.map(matchKey), ...compared].join('\n')
    let profile = this.#profiles.get(key)
    if (profile === undefined) {
      profile = new AccessProfile(this, matches)
      if (this.#profiles.size >= limits.accessProfiles.default) this.#profiles.clear()
      this.#profiles.set(key, profile)
    }
    return profile
  }
}

/** The conditions of a policy, equal ones once. */
class DistinctConditions {
  readonly list: Condition[] = []
  readonly #known = new Map<string, number>()

  /** Returns the index of a condition in the list. */
  add(condition: PolicyCondition): number {
    const key = JSON.stringify(condition)
    let at = this.#known.get(key)
    if (at === undefined) {
      at = this.list.push(conditionOf(condition)) - 1
      this.#known.set(key, at)
    }
    return at
  }
}

function compiled(rule: PolicyRule, conditions: DistinctConditions): CompiledRule {
  const { name, who = {}, unless, when, server } = rule
  return {
    name,
    isDeny: rule.deny !== undefined,
    who: conditions.add(who),
    unless: unless && conditions.add(unless),
    when,
    isOf: server === undefined ? undefined : matcher([server]),
  }
}

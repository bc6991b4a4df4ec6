import type { Principal } from '../../jsonrpc/channel.ts'
import type { NamedParams } from '../../server/request.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { AccessDecision, DecisiveRule } from './decision.ts'
import { decide } from './decision.ts'
import type { ConditionMatch } from './match.ts'
import type { Subject } from './subject.ts'

/** What a profile needs from its policy. */
export interface ProfileHost {
  readonly isOpen: boolean
  rulesFor(subject: Subject): readonly DecisiveRule[]
  mayAllow(server: string, matches: readonly ConditionMatch[]): boolean
}

/** What all callers see for whom the same conditions hold. It keeps the decisions about listed entries. */
export class AccessProfile {
  readonly #policy: ProfileHost
  readonly #matches: readonly ConditionMatch[]
  readonly #decisions = new WeakMap<object, AccessDecision>()
  readonly #parts = new WeakMap<Catalog, Catalog>()
  readonly #servers = new Map<string, boolean>()

  constructor(policy: ProfileHost, matches: readonly ConditionMatch[]) {
    this.#policy = policy
    this.#matches = matches
  }

  /** Decides about an entry of a catalog, for any arguments. */
  decisionOn(
    entry: object,
    subject: () => Subject,
    principal: Principal | undefined,
  ): AccessDecision {
    let decision = this.#decisions.get(entry)
    if (decision === undefined) {
      decision = this.decide(subject(), principal)
      this.#decisions.set(entry, decision)
    }
    return decision
  }

  /** Decides about anything: for the arguments of a call, or for any. */
  decide(subject: Subject, principal: Principal | undefined, args?: NamedParams): AccessDecision {
    const { isOpen } = this.#policy
    const matches = this.#matches
    return decide({ rules: this.#policy.rulesFor(subject), isOpen, matches, principal, args })
  }

  /** Returns the part of a catalog that `make` makes, which is the same for all callers with this profile. */
  part(catalog: Catalog, make: () => Catalog): Catalog {
    let part = this.#parts.get(catalog)
    if (part === undefined) {
      part = make()
      this.#parts.set(catalog, part)
    }
    return part
  }

  /** Whether the policy may allow anything of a server. */
  mayUse(server: string): boolean {
    let mayUse = this.#servers.get(server)
    if (mayUse === undefined) {
      mayUse = this.#policy.mayAllow(server, this.#matches)
      this.#servers.set(server, mayUse)
    }
    return mayUse
  }
}

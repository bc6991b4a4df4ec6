import type { Principal } from '../../jsonrpc/channel.ts'
import type { NamedParams } from '../../server/request.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { AccessProfile } from './access-profile.ts'
import type { AccessDecision } from './decision.ts'
import type { Subject } from './subject.ts'

/** An entry of a catalog that has a name. */
interface NamedEntry {
  readonly route: { readonly name: string }
  readonly shown: { readonly name: string }
}

/** What one caller may see and use. Lists and calls decide by the same function. */
export class Access {
  readonly #profile: AccessProfile
  readonly #principal: Principal | undefined

  constructor(profile: AccessProfile, principal: Principal | undefined) {
    this.#profile = profile
    this.#principal = principal
  }

  /** Returns the part of a catalog that the caller sees: what is allowed, and what it lacks only scopes for. */
  part(catalog: Catalog): Catalog {
    return this.#profile.part(catalog, () =>
      catalog.only({
        hasTool: entry => isSeen(this.onEntry('tool', entry)),
        hasPrompt: entry => isSeen(this.onEntry('prompt', entry)),
        hasResource: (uri, server) => this.sees({ kind: 'resource', name: uri, server }),
        hasServer: server => this.mayUse(server),
      }),
    )
  }

  /** Decides about a tool or prompt of a catalog, for any arguments. */
  onEntry(kind: 'tool' | 'prompt', entry: NamedEntry): AccessDecision {
    const subject = (): Subject => ({ kind, name: entry.shown.name, server: entry.route.name })
    return this.#profile.decisionOn(entry, subject, this.#principal)
  }

  /** Decides about anything, listed or not, for any arguments. */
  on(subject: Subject): AccessDecision {
    return this.#profile.decide(subject, this.#principal)
  }

  /** Decides about a call, whose arguments matter only if the decision for any arguments is conditional. */
  onCall(subject: Subject, args: NamedParams): AccessDecision {
    const decision = this.#profile.decide(subject, this.#principal, args)
    // The caller sees the entry, so that nothing is gained by denying that it exists.
    return decision.outcome === 'hidden' ? { ...decision, outcome: 'refused' } : decision
  }

  /** Whether the caller sees a tool, prompt or resource, listed or not. */
  sees(subject: Subject): boolean {
    return isSeen(this.on(subject))
  }

  /** Whether the caller may be allowed anything of a server. */
  mayUse(server: string): boolean {
    return this.#profile.mayUse(server)
  }
}

function isSeen({ outcome }: AccessDecision): boolean {
  return outcome !== 'hidden'
}

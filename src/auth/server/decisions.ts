import type { Principal } from '../../jsonrpc/channel.ts'
import type { Authentication } from '../../mcp/authenticator.ts'
import type { AuthOptions } from './auth-options.ts'
import type { AuthRefusals } from './refusals.ts'

/** Reports decisions to the option `onDecision`. */
export class Decisions {
  readonly #onDecision: AuthOptions['onDecision']
  readonly #refusals: AuthRefusals

  constructor(onDecision: AuthOptions['onDecision'], refusals: AuthRefusals) {
    this.#onDecision = onDecision
    this.#refusals = refusals
  }

  /** Reports an outcome and returns it. An error of `onDecision` changes no decision. */
  report<T extends Authentication>(outcome: T, refused?: Principal): T {
    if (this.#onDecision === undefined) return outcome
    const principal = outcome.status === undefined ? outcome.principal : refused
    const caller = principal && { principal: principal.id, verifier: principal.verifier }
    try {
      if (outcome.status === undefined) {
        this.#onDecision({
          outcome: principal === undefined ? 'anonymous' : 'admitted',
          ...caller,
        })
      } else {
        const reason = this.#refusals.reasonOf(outcome)
        this.#onDecision({ outcome: 'refused', status: outcome.status, reason, ...caller })
      }
    } catch (error) {
      console.error('trunkline: onDecision threw:', error)
    }
    return outcome
  }
}

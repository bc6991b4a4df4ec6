import type { Principal } from '../../jsonrpc/channel.ts'
import type { AccessEnd } from '../../mcp/authenticator.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { startAt } from '../../util/time/wall-timer.ts'

/** A caller, and the key by which its token was verified. */
export interface KnownCaller {
  readonly principal: Principal
  readonly keyId?: string | undefined
}

/** Ends the streams and connections of callers: when their tokens expire, and when these are withdrawn. */
export class OpenCallers {
  readonly #endsAtExpiry: boolean
  readonly #keyIds = new WeakMap<Principal, string>()
  readonly #withdrawn = new WeakSet<Principal>()
  readonly #open = new Map<Principal, Set<(why: AccessEnd) => void>>()

  constructor(endsAtExpiry: boolean) {
    this.#endsAtExpiry = endsAtExpiry
  }

  /** Remembers the key of a caller. */
  add({ principal, keyId }: KnownCaller): void {
    if (keyId !== undefined) this.#keyIds.set(principal, keyId)
  }

  /** Ends everything of one caller, also what it opens later as the same principal object. */
  withdraw(principal: Principal): void {
    this.#withdrawn.add(principal)
    for (const end of this.#open.get(principal) ?? []) end('withdrawn')
  }

  /** Ends everything of the callers that match. */
  withdrawAll(matches: (caller: KnownCaller) => boolean): void {
    for (const principal of [...this.#open.keys()]) {
      if (matches({ principal, keyId: this.#keyIds.get(principal) })) this.withdraw(principal)
    }
  }

  /** Implements `Authenticator.onAccessEnd`. */
  watch(
    principal: Principal,
    end: (why: AccessEnd) => void,
    clock: Clock = systemClock,
  ): () => void {
    const listeners = this.#open.get(principal) ?? new Set()
    this.#open.set(principal, listeners)
    const { expiresAt } = principal
    const stopTimer =
      this.#endsAtExpiry && expiresAt !== undefined
        ? startAt(expiresAt, () => once('expired'), clock)
        : undefined
    const stop = () => {
      stopTimer?.()
      listeners.delete(once)
      if (listeners.size === 0 && this.#open.get(principal) === listeners)
        this.#open.delete(principal)
    }
    const once = (why: AccessEnd) => {
      stop()
      end(why)
    }
    listeners.add(once)
    // Later, because the caller has yet to store what stops this.
    if (this.#withdrawn.has(principal))
      queueMicrotask(() => listeners.has(once) && once('withdrawn'))
    return stop
  }
}

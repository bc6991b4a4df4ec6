import { limits } from '../../../util/limits/limits.ts'

/** Remembers the DPoP proofs that were used, so that none is accepted twice. */
export interface ReplayCache {
  /**
   * Records a proof. Returns false if it was used before, and undefined if there is no room: forgetting one
   * would let it be used again.
   */
  add(proof: string, until: number, now: number): boolean | undefined | Promise<boolean | undefined>
}

/** Remembers proofs in the memory of this process. */
export class MemoryReplayCache implements ReplayCache {
  readonly #max: number
  /** In the order of their expiry, because every proof is valid for the same time. */
  readonly #proofs = new Map<string, number>()

  constructor(max: number = limits.dpopReplays.default) {
    this.#max = max
  }

  add(proof: string, until: number, now: number): boolean | undefined {
    for (const [oldest, end] of this.#proofs) {
      if (end > now) break
      this.#proofs.delete(oldest)
    }
    if (this.#proofs.has(proof)) return false
    if (this.#proofs.size >= this.#max) return undefined
    this.#proofs.set(proof, until)
    return true
  }
}

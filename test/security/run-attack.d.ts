export interface AttackCost {
  /** By how much the resident memory has grown when garbage is collected after the attack. */
  readonly keptBytes: number
  /** By how much the resident memory grew at most. */
  readonly grownBytes: number
  /** By how much the memory that JavaScript holds has grown after the attack. */
  readonly heldBytes: number
  /** The longest CPU time between two turns of the event loop. */
  readonly blockedMs: number
  /** The same, divided by the CPU time of a fixed amount of work. */
  readonly blockedRatio: number
}

export function runAttack(name: string): Promise<AttackCost>

import type { Principal } from '../jsonrpc/channel.ts'
import type { Caller } from '../mcp/caller.ts'
import { metaKeys } from '../mcp/meta.ts'
import { isRecord } from '../util/record.ts'

/**
 * Who spoke last on one connection. A client whose requests speak for themselves says the same of itself
 * in each of them, and what it says need not be read again while it is the very same object.
 *
 * Only an object that can no longer change is taken for the same.
 */
export class Speaker {
  #meta: unknown
  #caller: Caller | undefined

  /** The caller behind this `_meta`, if it is the one noted last and the principal is the same too. */
  who(meta: unknown, principal: Principal | undefined): Caller | undefined {
    const caller = this.#caller
    return meta === this.#meta && caller?.principal === principal ? caller : undefined
  }

  /** Keeps in mind whom a `_meta` was read as. */
  note(meta: unknown, caller: Caller): void {
    if (!isConstant(meta)) return
    this.#meta = meta
    this.#caller = Object.freeze(caller)
  }
}

/** Whether nothing that makes a caller can be changed any more. */
function isConstant(meta: unknown): boolean {
  return (
    isRecord(meta) &&
    Object.isFrozen(meta) &&
    Object.isFrozen(meta[metaKeys.clientCapabilities]) &&
    Object.isFrozen(meta[metaKeys.clientInfo])
  )
}

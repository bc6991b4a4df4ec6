import type { Principal } from '../../jsonrpc/channel.ts'
import { credentialKey } from '../../mcp/callers/caller-credentials.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Lists } from './lists.ts'

interface ReadLists {
  readonly lists: Partial<Lists>
  readonly until: number
}

/**
 * The lists that servers have for each principal, where only callers can read them. They are kept for `principalListsMs`
 * and for at most `principalLists` principals; those of the one whose lists were read longest ago are dropped. `T` identifies a server.
 */
export class PrincipalLists<T extends object> {
  readonly #now: () => number
  /** By credential key. A server that is gone is collected with its lists. */
  readonly #principals: BoundedMap<WeakMap<T, Map<ListKind, ReadLists>>>

  constructor(now: () => number = Date.now, max: number = limits.principalLists.default) {
    this.#now = now
    this.#principals = new BoundedMap(max, Number.POSITIVE_INFINITY)
  }

  /** Returns lists that were read for this principal not long ago; undefined if there are none. */
  get(principal: Principal, server: T, kind: ListKind): Partial<Lists> | undefined {
    const known = this.#principals.get(credentialKey(principal))?.get(server)?.get(kind)
    return known !== undefined && this.#now() < known.until ? known.lists : undefined
  }

  /** Keeps lists that were read for this principal. */
  set(principal: Principal, server: T, kind: ListKind, lists: Partial<Lists>): void {
    const key = credentialKey(principal)
    const servers = this.#principals.get(key) ?? new WeakMap<T, Map<ListKind, ReadLists>>()
    this.#principals.set(key, servers, 0)
    const kinds = servers.get(server) ?? new Map<ListKind, ReadLists>()
    kinds.set(kind, { lists, until: this.#now() + limits.principalListsMs.default })
    servers.set(server, kinds)
  }
}

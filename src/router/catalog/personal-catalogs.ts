import type { Caller } from '../../mcp/caller.ts'
import { grantPageOf } from '../../mcp/callers/caller-credentials.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import { mcpMethods } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { IncomingRequest } from '../../server/request.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Route } from '../dispatch/route.ts'
import type { View } from '../views/view.ts'
import type { Catalog } from './catalog.ts'
import { checkEntries } from './entry-check.ts'
import { type ListName, listRequests, listsByKind } from './list-names.ts'
import type { Lists } from './lists.ts'
import { PrincipalLists } from './principal-lists.ts'

/** What personal catalogs need from their router. */
export interface PersonalCatalogsHost {
  /** Makes a catalog of all servers, with other lists of some. */
  makeCatalog(listsOf: (route: Route) => Lists): Catalog
  /** Requests a page of a list of one server as the caller of a request. */
  request(request: IncomingRequest, route: Route, method: string, params: Members): Promise<Members>
  /** Called with the error of a list that could not be read. */
  onError(error: unknown): void
}

/**
 * The catalogs of callers that see other entries than the rest: those of servers in this process whose
 * lists depend on the caller, and those of servers that only callers have credentials for. Lists are read as the
 * caller: those of this process for each list request, the others once in `principalListsMs`.
 */
export class PersonalCatalogs {
  readonly #host: PersonalCatalogsHost
  /** The latest catalog of each caller, to find what it calls. The server checks each call anyway. */
  readonly #latest = new WeakMap<Caller, { readonly base: Catalog; readonly catalog: Catalog }>()

  readonly #read = new PrincipalLists<Route>()

  constructor(host: PersonalCatalogsHost) {
    this.#host = host
  }

  /** Whether the lists of this kind differ between the callers of a view. */
  has(view: View, kind: ListKind): boolean {
    return view.routes().some(({ upstream }) => upstream.isPersonal(kind))
  }

  /** Reads the lists of this kind as the caller of a request. Returns its part of the view. Never rejects. */
  async read(request: IncomingRequest, view: View, kind: ListKind): Promise<Catalog> {
    return (await this.#readAll(request, view, kind)).catalog
  }

  /** Also resolves to the errors of servers that the caller has not allowed the router to use for it. */
  async #readAll(
    request: IncomingRequest,
    view: View,
    kind: ListKind,
  ): Promise<{ readonly catalog: Catalog; readonly ungranted: ReadonlyMap<Route, unknown> }> {
    const base = view.catalog()
    const personal = view.routes().filter(({ upstream }) => upstream.isPersonal(kind))
    const byRoute = new Map<Route, Lists>()
    const ungranted = new Map<Route, unknown>()
    await Promise.all(
      personal.map(async route => {
        try {
          byRoute.set(route, await this.#listsOf(request, route, kind))
        } catch (error) {
          ungranted.set(route, error)
        }
      }),
    )
    const whole = this.#host.makeCatalog(route => byRoute.get(route) ?? route.upstream.lists)
    const catalog = view.partOf(whole)
    this.#latest.set(request.caller, { base, catalog })
    return { catalog, ungranted }
  }

  /**
   * Finds what the shared catalog does not have, among what the caller of a request sees. Rejects if it may belong to a
   * server that the caller has not allowed the router to use for it.
   */
  async find<T>(
    request: IncomingRequest,
    view: View,
    kind: ListKind,
    find: (catalog: Catalog) => T | undefined,
    mayHave: (route: Route) => boolean,
  ): Promise<T | undefined> {
    const latest = this.#latest.get(request.caller)
    const known = latest?.base === view.catalog() ? find(latest.catalog) : undefined
    if (known !== undefined) return known
    const { catalog, ungranted } = await this.#readAll(request, view, kind)
    const found = find(catalog)
    if (found !== undefined) return found
    for (const [route, error] of ungranted) if (mayHave(route)) throw error
    return undefined
  }

  /** Rejects if the caller has not allowed the router to use the server for it. */
  async #listsOf(request: IncomingRequest, route: Route, kind: ListKind): Promise<Lists> {
    const { principal } = request.caller
    const shared = route.upstream.lists
    const isKept = principal !== undefined && route.upstream.isUnlisted
    const known = isKept ? this.#read.get(principal, route, kind) : undefined
    if (known !== undefined) return { ...shared, ...known }
    const all = await Promise.all(
      listsByKind[kind].map(
        async list => [list, await this.#entriesOf(request, route, list)] as const,
      ),
    )
    // A list that could not be read is the one that all callers see.
    const read = all.filter(([, entries]) => entries !== undefined)
    const own: Partial<Lists> = Object.fromEntries(read)
    if (isKept && read.length === all.length) this.#read.set(principal, route, kind, own)
    return { ...shared, ...own }
  }

  /** The entries of one list; undefined if it cannot be read as this caller. */
  async #entriesOf(
    request: IncomingRequest,
    route: Route,
    list: ListName,
  ): Promise<readonly unknown[] | undefined> {
    // Skills are the same for all callers.
    if (list === 'skills') return route.upstream.lists[list]
    const method = listRequests[list]
    const entries: unknown[] = []
    let cursor: unknown
    try {
      do {
        const params = typeof cursor === 'string' ? { cursor } : {}
        const page = await this.#host.request(request, route, method, params)
        const items = page[mcpMethods[method].items]
        if (Array.isArray(items)) entries.push(...items)
        cursor = page.nextCursor
      } while (typeof cursor === 'string' && entries.length < limits.upstreamEntries.default)
    } catch (error) {
      // No fault: the caller has not granted anything yet.
      if (grantPageOf(error) !== undefined) throw error
      this.#host.onError(error)
      return undefined
    }
    return checkEntries(list, entries).valid
  }
}

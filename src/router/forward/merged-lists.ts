import { mcpMethods } from '../../mcp/methods.ts'
import { promptFor, resourceFor, templateFor, toolFor } from '../../mcp/revisions/shape.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { ServerSession } from '../../server/core/session.ts'
import type { ProviderHost } from '../../server/features/feature-provider.ts'
import { pageOf } from '../../server/features/pagination.ts'
import { type HandlerResult, type IncomingRequest, whenReady } from '../../server/request.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type ListName, listKindOf, listRequests } from '../catalog/list-names.ts'
import type { PersonalCatalogs } from '../catalog/personal-catalogs.ts'
import type { Route } from '../dispatch/route.ts'
import { unavailableKey } from './results.ts'
import { whenListed } from './starting.ts'
import type { ListedTool, ToolSearch } from './tool-search.ts'

/** What merged lists need from their router. */
export interface MergedListsHost {
  readonly personal: PersonalCatalogs
  /** Undefined if every tool is listed. */
  readonly toolSearch: ToolSearch | undefined
  catalog(): Catalog
  /** The routes to the upstream servers, in their order. */
  routes(): readonly Route[]
  /** The servers whose features are missing from lists, with the reasons; undefined if there is none. */
  unavailable(): Members | undefined
}

/** The lists of all upstream servers as callers get them: in their revision, and in pages. */
export class MergedLists {
  readonly #server: ProviderHost
  readonly #host: MergedListsHost
  /** Lists as converted for each revision, kept until the catalog changes. */
  readonly #converted = new Map<string, readonly unknown[]>()
  #convertedFrom: Catalog | undefined
  /** The lists that each session has got. */
  readonly #listedBy = new WeakMap<ServerSession, ReadonlySet<ListName>>()

  constructor(server: ProviderHost, host: MergedListsHost) {
    this.#server = server
    this.#host = host
  }

  /**
   * Returns one page of a list. The first list of a caller waits for servers that are starting. A later
   * page, and a later list of a session, do not: changes are announced to the session.
   */
  page(request: IncomingRequest, listed: ListName): HandlerResult {
    const { session, params, exchange } = request
    const before = session && this.#listedBy.get(session)
    if (before?.has(listed) || params.cursor !== undefined) return this.#pageNow(request, listed)
    const waiting = whenListed(this.#host.routes(), listKindOf(listed), () => exchange.signal)
    const answer = (): HandlerResult => {
      if (session !== undefined) {
        this.#listedBy.set(session, new Set(this.#listedBy.get(session)).add(listed))
      }
      return this.#pageNow(request, listed)
    }
    return waiting === undefined ? answer() : waiting.then(answer)
  }

  #pageNow(request: IncomingRequest, listed: ListName): HandlerResult {
    const { personal } = this.#host
    const kind = listKindOf(listed)
    if (!personal.has(kind)) return this.#pageOf(request, listed, this.#host.catalog(), listed)
    // A cursor of a list that differs between callers belongs to the principal.
    const binding = JSON.stringify([listed, request.caller.principal?.id])
    return personal
      .read(request, kind)
      .then(catalog => this.#pageOf(request, listed, catalog, binding))
  }

  #pageOf(
    { caller, params }: IncomingRequest,
    listed: ListName,
    catalog: Catalog,
    binding: string,
  ): HandlerResult {
    const { revision } = caller
    const all = this.#cached(catalog, `${listed} ${revision.name}`, () => {
      switch (listed) {
        case 'tools':
          return this.#tools(catalog).map(({ shown }) => toolFor(revision, shown))
        case 'prompts':
          return catalog.prompts.map(({ shown }) => promptFor(revision, shown))
        case 'resources':
          return catalog.resources.map(({ shown }) => resourceFor(revision, shown))
        case 'templates':
          return catalog.templates.map(({ shown }) => templateFor(revision, shown))
        case 'skills':
          return catalog.skills.map(({ shown }) => shown)
      }
    })
    const { cursors, pageSize } = this.#server
    // The check: the list under this key is made by the line below.
    const places =
      all.length > pageSize
        ? (this.#cached(catalog, `${listed} places`, () =>
            (listed === 'tools' ? this.#tools(catalog) : catalog[listed]).map(({ place }) => place),
          ) as readonly number[])
        : undefined
    const page = pageOf(all, binding, params, cursors, pageSize, places)
    return whenReady(page, ({ items, nextCursor }) => {
      const missing = this.#host.unavailable()
      return {
        [mcpMethods[listRequests[listed]].items]: items,
        ...(nextCursor !== undefined && { nextCursor }),
        ...(missing !== undefined && { _meta: { [unavailableKey]: missing } }),
      }
    })
  }

  #tools(catalog: Catalog): readonly ListedTool[] {
    return this.#host.toolSearch?.listed(catalog) ?? catalog.tools
  }

  #cached(catalog: Catalog, key: string, make: () => readonly unknown[]): readonly unknown[] {
    // A catalog of one caller is used once.
    if (catalog !== this.#host.catalog()) return make()
    if (this.#convertedFrom !== catalog) {
      this.#convertedFrom = catalog
      this.#converted.clear()
    }
    let list = this.#converted.get(key)
    if (list === undefined) {
      list = make()
      this.#converted.set(key, list)
    }
    return list
  }
}

import type { Caller } from '../../mcp/caller.ts'
import { mcpMethods } from '../../mcp/methods.ts'
import { promptFor, resourceFor, templateFor, toolFor } from '../../mcp/revisions/shape.ts'
import type { ServerSession } from '../../server/core/session.ts'
import type { ProviderHost } from '../../server/features/feature-provider.ts'
import { pageOf } from '../../server/features/pagination.ts'
import { type HandlerResult, type IncomingRequest, whenReady } from '../../server/request.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type ListName, listKindOf, listRequests } from '../catalog/list-names.ts'
import type { PersonalCatalogs } from '../catalog/personal-catalogs.ts'
import type { ListedTool } from '../views/tool-search.ts'
import type { View } from '../views/view.ts'
import { unavailableKey } from './results.ts'
import { whenListed } from './starting.ts'

/** The lists of all upstream servers as callers get them: in their revision, and in pages. */
export class MergedLists {
  readonly #server: ProviderHost
  readonly #viewOf: (caller: Caller) => View
  readonly #personal: PersonalCatalogs
  /** Lists as converted for each revision, kept until the catalog of the view changes. */
  readonly #converted = new WeakMap<Catalog, Map<string, readonly unknown[]>>()
  /** The lists that each session has got. */
  readonly #listedBy = new WeakMap<ServerSession, ReadonlySet<ListName>>()

  constructor(server: ProviderHost, viewOf: (caller: Caller) => View, personal: PersonalCatalogs) {
    this.#server = server
    this.#viewOf = viewOf
    this.#personal = personal
  }

  /**
   * Returns one page of a list. The first list of a caller waits for servers that are starting. A later
   * page, and a later list of a session, do not: changes are announced to the session.
   */
  page(request: IncomingRequest, listed: ListName): HandlerResult {
    const { session, params, exchange, caller } = request
    const before = session && this.#listedBy.get(session)
    if (before?.has(listed) || params.cursor !== undefined) return this.#pageNow(request, listed)
    const waiting = whenListed(
      this.#viewOf(caller).routes(),
      listKindOf(listed),
      () => exchange.signal,
    )
    const answer = (): HandlerResult => {
      if (session !== undefined) {
        this.#listedBy.set(session, new Set(this.#listedBy.get(session)).add(listed))
      }
      return this.#pageNow(request, listed)
    }
    return waiting === undefined ? answer() : waiting.then(answer)
  }

  #pageNow(request: IncomingRequest, listed: ListName): HandlerResult {
    const view = this.#viewOf(request.caller)
    const kind = listKindOf(listed)
    const isPersonal = this.#personal.has(view, kind)
    // A cursor of a list that differs between callers belongs to the principal.
    const binding =
      isPersonal || view.access !== undefined
        ? JSON.stringify([listed, request.caller.principal?.id])
        : listed
    if (!isPersonal) return this.#pageFrom(view.catalog(), view, request, listed, binding)
    return this.#personal
      .read(request, view, kind)
      .then(catalog => this.#pageFrom(catalog, view, request, listed, binding))
  }

  #pageFrom(
    all: Catalog,
    view: View,
    { caller, params }: IncomingRequest,
    listed: ListName,
    binding: string,
  ): HandlerResult {
    const catalog = view.visible(all)
    const { revision } = caller
    const entries = this.#cached(catalog, `${listed} ${revision.name}`, () => {
      switch (listed) {
        case 'tools':
          return toolsOf(view, catalog).map(({ shown }) => toolFor(revision, shown))
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
      entries.length > pageSize
        ? (this.#cached(catalog, `${listed} places`, () =>
            (listed === 'tools' ? toolsOf(view, catalog) : catalog[listed]).map(
              ({ place }) => place,
            ),
          ) as readonly number[])
        : undefined
    const page = pageOf(entries, binding, params, cursors, pageSize, places)
    return whenReady(page, ({ items, nextCursor }) => {
      const missing = view.unavailable()
      return {
        [mcpMethods[listRequests[listed]].items]: items,
        ...(nextCursor !== undefined && { nextCursor }),
        ...(missing !== undefined && { _meta: { [unavailableKey]: missing } }),
      }
    })
  }

  #cached(catalog: Catalog, key: string, make: () => readonly unknown[]): readonly unknown[] {
    const lists = this.#converted.get(catalog) ?? new Map<string, readonly unknown[]>()
    this.#converted.set(catalog, lists)
    const list = lists.get(key) ?? make()
    lists.set(key, list)
    return list
  }
}

function toolsOf(view: View, catalog: Catalog): readonly ListedTool[] {
  return view.toolSearch?.listed(catalog, view.routes()) ?? catalog.tools
}

import type { Members } from '../../mcp/types/base.ts'
import type { Catalog, CatalogFilter } from '../catalog/catalog.ts'
import { matcher } from '../catalog/glob.ts'
import type { Route } from '../dispatch/route.ts'
import type { ToolSearchOptions, ViewOptions } from '../options.ts'
import { ToolSearch } from './tool-search.ts'

/** What views need from their router. */
export interface ViewHost {
  /** Everything that the upstream servers list; the same object until that changes. */
  catalog(): Catalog
  /** The routes to all upstream servers, in their order. */
  routes(): readonly Route[]
}

/** The part of a router that a caller sees and can use. By default that is everything. */
export class View {
  /** Undefined if every tool of the view is listed. */
  readonly toolSearch: ToolSearch | undefined
  readonly #host: ViewHost
  readonly #filter: CatalogFilter | undefined
  #part: { readonly of: Catalog; readonly catalog: Catalog } | undefined

  constructor(host: ViewHost, toolSearch?: ToolSearchOptions, options?: ViewOptions) {
    this.#host = host
    this.#filter = options && filterOf(options)
    this.toolSearch = toolSearch && new ToolSearch(toolSearch)
  }

  /** Whether the view has everything. */
  get isWhole(): boolean {
    return this.#filter === undefined
  }

  /** What the view has, as callers see it. */
  catalog(): Catalog {
    const all = this.#host.catalog()
    if (this.#filter === undefined) return all
    if (this.#part?.of !== all) this.#part = { of: all, catalog: all.only(this.#filter) }
    return this.#part.catalog
  }

  /** Returns the part of a catalog that the view has. */
  partOf(all: Catalog): Catalog {
    return this.#filter === undefined ? all : all.only(this.#filter)
  }

  /** The routes to the servers of the view, in their order. */
  routes(): readonly Route[] {
    const all = this.#host.routes()
    return this.#filter === undefined ? all : all.filter(route => this.hasServer(route))
  }

  /** Whether a server belongs to the view. */
  hasServer({ name }: Route): boolean {
    return this.#filter?.hasServer(name) !== false
  }

  /** The servers whose features are missing from the lists of the view, with the reasons; undefined if there is none. */
  unavailable(): Members | undefined {
    return unavailableIn(this.routes())
  }
}

function filterOf({ servers, tools }: ViewOptions): CatalogFilter {
  const hasServer = servers === undefined ? () => true : matcher(servers)
  const isAllowed = tools?.allow === undefined ? () => true : matcher(tools.allow)
  const isDenied = matcher(tools?.deny ?? [])
  return { hasServer, hasTool: name => isAllowed(name) && !isDenied(name) }
}

/** Returns the servers whose features lists lack, and the reason of each; undefined if there are none. */
function unavailableIn(routes: readonly Route[]): Members | undefined {
  const unavailable = routes.flatMap(({ name, upstream }) => {
    if (upstream.isRemembered) return []
    const lists = upstream.listProblems.map(({ summary }) => summary).join('; ')
    const reason = upstream.unavailableReason ?? lists
    return reason === '' ? [] : [[name, reason] as const]
  })
  return unavailable.length === 0 ? undefined : Object.fromEntries(unavailable)
}

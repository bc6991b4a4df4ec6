import type { Members } from '../../mcp/types/base.ts'
import type { Access } from '../access/access.ts'
import type { Subject } from '../access/subject.ts'
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

/** What a caller can find in a router. By default that is everything; an access policy may hide parts of it. */
export interface View {
  /** Undefined if every tool of the view is listed. */
  readonly toolSearch: ToolSearch | undefined
  /** What the policy lets the caller do; undefined without a policy. */
  readonly access: Access | undefined
  /** Whether the view has everything. */
  readonly isWhole: boolean
  /** What the view has. Some of it may be hidden from the caller: lists show only the visible part. */
  catalog(): Catalog
  /** Returns the part of a catalog that the view has. */
  partOf(all: Catalog): Catalog
  /** Returns the part of a catalog of the view that the caller sees. */
  visible(catalog: Catalog): Catalog
  /** The routes to the servers of the view, in their order. */
  routes(): readonly Route[]
  /** Returns the routes to the servers of the view that may have an entry which the caller sees. */
  routesFor(kind: Subject['kind'], name: string): readonly Route[]
  /** Whether a server belongs to the view. */
  hasServer(route: Route): boolean
  /** The servers whose features are missing from the lists of the view, with the reasons; undefined if there is none. */
  unavailable(): Members | undefined
}

/** The view of all callers at one endpoint, or of those that rules select, before a policy hides parts of it. */
export class SharedView implements View {
  readonly toolSearch: ToolSearch | undefined
  readonly access = undefined
  readonly #host: ViewHost
  readonly #filter: CatalogFilter | undefined
  readonly #callers = new WeakMap<Access, View>()
  #part: { readonly of: Catalog; readonly catalog: Catalog } | undefined

  constructor(host: ViewHost, toolSearch?: ToolSearchOptions, options?: ViewOptions) {
    this.#host = host
    this.#filter = options && filterOf(options)
    this.toolSearch = toolSearch && new ToolSearch(toolSearch)
  }

  get isWhole(): boolean {
    return this.#filter === undefined
  }

  catalog(): Catalog {
    const all = this.#host.catalog()
    if (this.#filter === undefined) return all
    if (this.#part?.of !== all) this.#part = { of: all, catalog: all.only(this.#filter) }
    return this.#part.catalog
  }

  partOf(all: Catalog): Catalog {
    return this.#filter === undefined ? all : all.only(this.#filter)
  }

  visible(catalog: Catalog): Catalog {
    return catalog
  }

  /** Returns this view as a caller with this access has it. */
  for(access: Access): View {
    let view = this.#callers.get(access)
    if (view === undefined) {
      view = new CallerView(this, access)
      this.#callers.set(access, view)
    }
    return view
  }

  routes(): readonly Route[] {
    const all = this.#host.routes()
    return this.#filter === undefined ? all : all.filter(route => this.hasServer(route))
  }

  routesFor(): readonly Route[] {
    return this.routes()
  }

  hasServer({ name }: Route): boolean {
    return this.#filter?.hasServer(name) !== false
  }

  unavailable(): Members | undefined {
    return unavailableIn(this.routes())
  }
}

/** A view as a policy leaves it to one caller. */
class CallerView implements View {
  readonly access: Access
  readonly toolSearch: ToolSearch | undefined
  readonly isWhole = false
  readonly #shared: View

  constructor(shared: View, access: Access) {
    this.#shared = shared
    this.access = access
    this.toolSearch = shared.toolSearch
  }

  catalog(): Catalog {
    return this.#shared.catalog()
  }

  partOf(all: Catalog): Catalog {
    return this.#shared.partOf(all)
  }

  visible(catalog: Catalog): Catalog {
    return this.access.part(catalog)
  }

  routes(): readonly Route[] {
    return this.#shared.routes().filter(({ name }) => this.access.mayUse(name))
  }

  routesFor(kind: Subject['kind'], name: string): readonly Route[] {
    const all = this.#shared.routes().map(route => {
      return { route, outcome: this.access.on({ kind, name, server: route.name }).outcome }
    })
    // Those that the caller may use come first: another one would only ask for scopes.
    const isAllowed = ({ outcome }: (typeof all)[number]): number => (outcome === 'allowed' ? 0 : 1)
    return all
      .filter(({ outcome }) => outcome !== 'hidden')
      .sort((one, other) => isAllowed(one) - isAllowed(other))
      .map(({ route }) => route)
  }

  hasServer(route: Route): boolean {
    return this.#shared.hasServer(route)
  }

  unavailable(): Members | undefined {
    return unavailableIn(this.routes())
  }
}

function filterOf({ servers, tools }: ViewOptions): CatalogFilter {
  const hasServer = servers === undefined ? () => true : matcher(servers)
  const isAllowed = tools?.allow === undefined ? () => true : matcher(tools.allow)
  const isDenied = matcher(tools?.deny ?? [])
  return { hasServer, hasTool: ({ shown }) => isAllowed(shown.name) && !isDenied(shown.name) }
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

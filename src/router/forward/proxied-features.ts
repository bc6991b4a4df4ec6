import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { Implementation, Members } from '../../mcp/types/base.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { CallSpan } from '../../observe/call.ts'
import type {
  AvailableFeatures,
  FeatureProvider,
  ProviderHost,
} from '../../server/features/feature-provider.ts'
import { type HandlerResult, type IncomingRequest, stringParam } from '../../server/request.ts'
import { subscribe, unsubscribe } from '../../server/subscriptions/subscribe.ts'
import { isRecord } from '../../util/objects.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { CatalogEntry } from '../catalog/entries.ts'
import { PersonalCatalogs, type PersonalCatalogsHost } from '../catalog/personal-catalogs.ts'
import type { Route } from '../dispatch/route.ts'
import { type ObservableHandler, observable } from '../observable.ts'
import type { View } from '../views/view.ts'
import { Finder, missingResourceError } from './finder.ts'
import { type ForwardContext, forward } from './forward.ts'
import { MergedLists } from './merged-lists.ts'
import type { ParkedCalls } from './parked-calls.ts'
import { SenderMetaCache } from './sender.ts'
import { forwardSkillRequest, routedSettings } from './skills.ts'
import { whenListed } from './starting.ts'
import { ToolCalls } from './tool-calls.ts'
import { onlyReader, readersOf, searchUnlisted } from './unlisted.ts'
import { UpstreamCall, type UpstreamResult } from './upstream-call.ts'

/** What the proxied features need from their router. */
export interface ProxiedFeaturesHost extends Omit<PersonalCatalogsHost, 'request'> {
  /** The client name and version that the router sends to upstream servers. */
  readonly info: Implementation
  readonly parkedCalls: ParkedCalls<UpstreamResult>
  /** Returns what a caller can see and use. */
  viewOf(caller: Caller): View
  /** The routes to all upstream servers, in their order. */
  routes(): readonly Route[]
}

/** The features of the upstream servers, provided as if they were those of one server. */
export class ProxiedFeatures implements FeatureProvider {
  readonly methods: ReadonlyMap<string, (request: IncomingRequest) => HandlerResult>
  readonly available: AvailableFeatures
  readonly #server: ProviderHost
  readonly #host: ProxiedFeaturesHost
  readonly #context: ForwardContext
  readonly #finder: Finder

  constructor(server: ProviderHost, host: ProxiedFeaturesHost) {
    this.#server = server
    this.#host = host
    this.#context = {
      rounds: server.rounds,
      parked: host.parkedCalls,
      senders: new SenderMetaCache(host.info),
    }
    this.available = {
      tools: true,
      resources: true,
      prompts: true,
      completions: true,
      // Declared to clients before the servers may be known; each tool says whether it can be a task.
      tasks: true,
      // Declared for the same reason. The settings are those of the servers that are known by then.
      get skills() {
        return routedSettings(host.routes())
      },
    }
    const viewOf = (caller: Caller): View => host.viewOf(caller)
    const personal = new PersonalCatalogs({
      makeCatalog: listsOf => host.makeCatalog(listsOf),
      request: (request, route, method, params) => this.#list(request, route, method, params),
      onError: error => host.onError(error),
    })
    this.#finder = new Finder(personal)
    const tools = new ToolCalls(
      server,
      this.#context,
      this.available,
      viewOf,
      this.#finder,
      personal,
    )
    const lists = new MergedLists(server, viewOf, personal)
    const handlers: readonly (readonly [string, ObservableHandler])[] = [
      ['tools/list', request => lists.page(request, 'tools')],
      ['resources/list', request => lists.page(request, 'resources')],
      ['resources/templates/list', request => lists.page(request, 'templates')],
      ['resources/read', (request, span) => this.#read(request, span)],
      ['resources/subscribe', request => this.#subscribe(request)],
      ['resources/unsubscribe', request => this.#unsubscribe(request)],
      ['skills/list', request => lists.page(request, 'skills')],
      ['skills/get', (request, span) => this.#forwardSkill(request, span)],
      ['resources/directory/read', (request, span) => this.#forwardSkill(request, span)],
      ['prompts/list', request => lists.page(request, 'prompts')],
      ['prompts/get', (request, span) => this.#getPrompt(request, span)],
      ['completion/complete', (request, span) => this.#complete(request, span)],
    ]
    this.methods = new Map([
      ['tools/call', observable((request, span) => tools.call(request, span), tools.nameIn)],
      ...handlers.map(([method, handler]) => [method, observable(handler)] as const),
    ])
  }

  /** In a view, only what its servers list: another resource may belong to a server outside of the view. */
  readonly isVisible = (uri: string, { caller }: IncomingRequest): boolean => {
    const view = this.#host.viewOf(caller)
    return view.isWhole || this.#watchedOwner(view, uri) !== undefined
  }

  #watchedOwner(view: View, uri: string): Route | undefined {
    const owner = view.catalog().ownerOf(uri) ?? onlyReader(this.#host.routes())
    return owner !== undefined && view.hasServer(owner) ? owner : undefined
  }

  /** Requests a page of a list of one server as the caller of a request. */
  async #list(
    request: IncomingRequest,
    route: Route,
    method: string,
    params: Members,
  ): Promise<Members> {
    const listing = { ...request, method, params, acceptsRaw: false }
    const { result } = await route.send(new UpstreamCall(this.#context.senders, listing, route, {}))
    return isRecord(result) ? result : {}
  }

  #forward(
    request: IncomingRequest,
    route: Route,
    replaced: Members,
    span: CallSpan | undefined,
  ): HandlerResult {
    const call = new UpstreamCall(this.#context.senders, request, route, replaced, span)
    return forward(call, this.#context)
  }

  #getPrompt(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const name = stringParam(request.params, 'name')
    return this.#findPrompt(request, name, entry =>
      this.#forward(request, entry.route, { name: entry.name }, span),
    )
  }

  #findPrompt(
    request: IncomingRequest,
    name: string,
    forwardTo: (entry: CatalogEntry<Prompt>) => HandlerResult,
  ): HandlerResult {
    const view = this.#host.viewOf(request.caller)
    const find = (catalog: Catalog) => catalog.prompt(name)
    return this.#finder.findByName({ request, view, kind: 'prompts', name, find, forwardTo })
  }

  #read(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const uri = stringParam(request.params, 'uri')
    const view = this.#host.viewOf(request.caller)
    const find = (catalog: Catalog) => catalog.ownerOf(uri)
    const forwardTo = (route: Route) => this.#forward(request, route, {}, span)
    return this.#finder.find({ request, view, kind: 'resources', find, forwardTo }, () => {
      const routes = readersOf(view.routes())
      return this.#search(request, view, routes, errors.resourceNotFound({ uri }), span)
    })
  }

  #forwardSkill(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const view = this.#host.viewOf(request.caller)
    return forwardSkillRequest(request, {
      catalog: () => view.catalog(),
      routes: () => view.routes(),
      forward: route => this.#forward(request, route, {}, span),
      search: (those, notFound) => this.#search(request, view, those, notFound, span),
    })
  }

  #search(
    request: IncomingRequest,
    view: View,
    among: readonly Route[],
    notFound: Error,
    span: CallSpan | undefined,
  ): Promise<Members> {
    return searchUnlisted({
      among,
      routes: view.routes(),
      notFound,
      forward: route => this.#forward(request, route, {}, span),
    })
  }

  #subscribe(request: IncomingRequest): HandlerResult {
    const view = this.#host.viewOf(request.caller)
    const listed = whenListed(view.routes(), 'resources', () => request.exchange.signal)
    const handle = (): HandlerResult => {
      const uri = stringParam(request.params, 'uri')
      if (this.#watchedOwner(view, uri) === undefined) {
        throw missingResourceError(view.routes()) ?? errors.resourceNotFound({ uri })
      }
      return subscribe(request, uri, this.#server.subscriptions)
    }
    return listed === undefined ? handle() : listed.then(handle)
  }

  #unsubscribe(request: IncomingRequest): HandlerResult {
    return unsubscribe(request, stringParam(request.params, 'uri'), this.#server.subscriptions)
  }

  #complete(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const { ref } = request.params
    const view = this.#host.viewOf(request.caller)
    if (isRecord(ref) && ref.type === 'ref/prompt' && typeof ref.name === 'string') {
      const { name } = ref
      return this.#findPrompt(request, name, entry =>
        this.#completeAt(request, entry.route, { ref: { ...ref, name: entry.name } }, span),
      )
    }
    if (isRecord(ref) && ref.type === 'ref/resource' && typeof ref.uri === 'string') {
      const { uri } = ref
      const find = (catalog: Catalog) => catalog.templateOwner(uri) ?? catalog.ownerOf(uri)
      const forwardTo = (route: Route) => this.#completeAt(request, route, {}, span)
      return this.#finder.find({ request, view, kind: 'resources', find, forwardTo }, () => {
        const unlisted = missingResourceError(view.routes())
        throw unlisted ?? errors.invalidCompletionReference({ reference: uri })
      })
    }
    const reference = String(isRecord(ref) ? ref.type : ref)
    throw errors.invalidCompletionReference({ reference })
  }

  #completeAt(
    request: IncomingRequest,
    route: Route,
    replaced: Members,
    span: CallSpan | undefined,
  ): HandlerResult {
    const server = route.upstream.ready?.first?.server
    const declares = server?.revision.features.completionsCapability
    if (declares && server?.capabilities.completions === undefined) {
      return { completion: { values: [], total: 0, hasMore: false } }
    }
    return this.#forward(request, route, replaced, span)
  }
}

import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { Implementation, Members } from '../../mcp/types/base.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { AuditSink } from '../../observe/audit/record.ts'
import type { CallSpan } from '../../observe/call.ts'
import type {
  AvailableFeatures,
  FeatureProvider,
  ProviderHost,
} from '../../server/features/feature-provider.ts'
import {
  type HandlerResult,
  type IncomingRequest,
  stringParam,
  whenReady,
} from '../../server/request.ts'
import { subscribe, unsubscribe } from '../../server/subscriptions/subscribe.ts'
import { isRecord } from '../../util/objects.ts'
import { accessError, Guard } from '../access/guard.ts'
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
import { mayHaveName, whenListed } from './starting.ts'
import { ToolCalls } from './tool-calls.ts'
import { onlyReader, readersOf, searchUnlisted } from './unlisted.ts'
import { UpstreamCall, type UpstreamResult } from './upstream-call.ts'

/** What the proxied features need from their router. */
export interface ProxiedFeaturesHost extends Omit<PersonalCatalogsHost, 'request'> {
  /** The client name and version that the router sends to upstream servers. */
  readonly info: Implementation
  readonly parkedCalls: ParkedCalls<UpstreamResult>
  /** Records decisions on calls; undefined if nothing is recorded. */
  readonly audit: AuditSink | undefined
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
  readonly #guard: Guard

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
    this.#finder = new Finder(personal, this.#context.rounds)
    this.#guard = new Guard(host.audit)
    const tools = new ToolCalls(
      server,
      this.#context,
      this.available,
      viewOf,
      this.#finder,
      personal,
      this.#guard,
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
    if (view.isWhole) return true
    const owner = this.#watchedOwner(view, uri)
    return owner !== undefined && mayRead(view, uri, owner)
  }

  /** Throws if the caller may use the tool of a task again, but lacks scopes. */
  readonly mayUseTask = (tool: string, caller: Caller): boolean => {
    const view = this.#host.viewOf(caller)
    if (view.access === undefined) return true
    const server = serverOf(view, tool) ?? ''
    const decision = view.access.on({ kind: 'tool', name: tool, server })
    const notFound = () => errors.toolNotFound({ tool })
    const error = accessError({ name: tool, notFound }, decision)
    if (error !== undefined && decision.outcome !== 'hidden') throw error
    return error === undefined
  }

  /** Whether the caller may read a resource that has changed. */
  mayRead(uri: string, caller: Caller): boolean {
    const view = this.#host.viewOf(caller)
    if (view.access === undefined) return true
    const owner = this.#watchedOwner(view, uri)
    return owner !== undefined && mayRead(view, uri, owner)
  }

  /** Runs `next` if the policy allows a request about a resource of a server. */
  #passResource(
    request: IncomingRequest,
    view: View,
    name: string,
    route: Route,
    next: () => HandlerResult,
    notFound: () => Error = () => errors.resourceNotFound({ uri: name }),
  ): HandlerResult {
    const { access } = view
    if (!this.#guard.isNeeded(access)) return next()
    const server = route.name
    return this.#guard.pass({ kind: 'resource', name, server, request, access, notFound }, next)
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
    return this.#findPrompt(request, name, (entry, passed) =>
      this.#forward(passed, entry.route, { name: entry.name }, span),
    )
  }

  #findPrompt(
    request: IncomingRequest,
    name: string,
    forward: (entry: CatalogEntry<Prompt>, passed: IncomingRequest) => HandlerResult,
  ): HandlerResult {
    const view = this.#host.viewOf(request.caller)
    const { access } = view
    const find = (catalog: Catalog) => catalog.prompt(name)
    const routes = () => view.routesFor('prompt', name)
    const notFound = () => errors.promptNotFound({ prompt: name })
    const forwardTo = (entry: CatalogEntry<Prompt>): HandlerResult => {
      if (!this.#guard.isNeeded(access)) return forward(entry, request)
      const { route, name: upstream } = entry
      const decision = access?.onEntry('prompt', entry)
      return this.#guard.pass(
        { kind: 'prompt', name, server: route.name, upstream, request, access, decision, notFound },
        passed => forward(entry, passed),
      )
    }
    return this.#finder.findByName({
      request,
      view,
      kind: 'prompts',
      name,
      routes,
      find,
      forwardTo,
    })
  }

  #read(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const uri = stringParam(request.params, 'uri')
    const view = this.#host.viewOf(request.caller)
    const find = (catalog: Catalog) => catalog.ownerOf(uri)
    const forwardTo = (route: Route) =>
      this.#passResource(request, view, uri, route, () =>
        this.#forwardContents(request, view, route, span),
      )
    const routes = () => view.routesFor('resource', uri)
    return this.#finder.find({ request, view, kind: 'resources', routes, find, forwardTo }, () => {
      const among = readersOf(routes())
      const [hidden] = among.length === 0 ? readersOf(view.routes()) : []
      if (hidden !== undefined) return forwardTo(hidden)
      const notFound = errors.resourceNotFound({ uri })
      return searchUnlisted({ among, routes: routes(), notFound, forward: forwardTo })
    })
  }

  #forwardSkill(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const view = this.#host.viewOf(request.caller)
    const uri = stringParam(request.params, 'uri')
    const routes = () => view.routesFor('resource', uri)
    return forwardSkillRequest(request, {
      catalog: () => view.catalog(),
      routes,
      forward: (route, notFound) =>
        this.#passResource(
          request,
          view,
          uri,
          route,
          () => this.#forwardContents(request, view, route, span),
          () => notFound,
        ),
    })
  }

  /** Forwards a request for contents. What a policy lets one caller read must not be cached for others. */
  #forwardContents(
    request: IncomingRequest,
    view: View,
    route: Route,
    span: CallSpan | undefined,
  ): HandlerResult {
    const result = this.#forward(request, route, {}, span)
    if (view.access === undefined) return result
    return whenReady(result, known =>
      known.cacheScope === undefined ? known : { ...known, cacheScope: 'private' },
    )
  }

  #subscribe(request: IncomingRequest): HandlerResult {
    const view = this.#host.viewOf(request.caller)
    const listed = whenListed(view.routes(), 'resources', () => request.exchange.signal)
    const handle = (): HandlerResult => {
      const uri = stringParam(request.params, 'uri')
      const owner = this.#watchedOwner(view, uri)
      if (owner === undefined) {
        const routes = view.routesFor('resource', uri)
        throw missingResourceError(routes) ?? errors.resourceNotFound({ uri })
      }
      return this.#passResource(request, view, uri, owner, () =>
        subscribe(request, uri, this.#server.subscriptions),
      )
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
      return this.#findPrompt(request, name, (entry, passed) =>
        this.#completeAt(passed, entry.route, { ref: { ...ref, name: entry.name } }, span),
      )
    }
    if (isRecord(ref) && ref.type === 'ref/resource' && typeof ref.uri === 'string') {
      const { uri } = ref
      const find = (catalog: Catalog) => catalog.templateOwner(uri) ?? catalog.ownerOf(uri)
      const notFound = () => errors.invalidCompletionReference({ reference: uri })
      const complete = (route: Route) => this.#completeAt(request, route, {}, span)
      const forwardTo = (route: Route) =>
        this.#passResource(request, view, uri, route, () => complete(route), notFound)
      const routes = () => view.routesFor('resource', uri)
      return this.#finder.find(
        { request, view, kind: 'resources', routes, find, forwardTo },
        () => {
          throw missingResourceError(routes()) ?? notFound()
        },
      )
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
    const { ready, isUnlisted } = route.upstream
    const server = isUnlisted ? undefined : ready?.first?.server
    const declares = server?.revision.features.completionsCapability
    if (declares && server?.capabilities.completions === undefined) {
      return { completion: { values: [], total: 0, hasMore: false } }
    }
    return this.#forward(request, route, replaced, span)
  }
}

function mayRead({ access }: View, name: string, { name: server }: Route): boolean {
  return access === undefined || access.on({ kind: 'resource', name, server }).outcome === 'allowed'
}

/** Returns the server of a tool; where its list is unknown for now, the one whose prefix the name has. */
function serverOf(view: View, tool: string): string | undefined {
  const listed = view.catalog().tool(tool)?.route
  const route = listed ?? view.routes().find(mayHaveName(tool))
  return route?.name
}

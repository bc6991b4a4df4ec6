import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import type { MirroredArguments } from '../../mcp/param-headers/compare.ts'
import type { Implementation, Members } from '../../mcp/types/base.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { CallSpan } from '../../observe/call.ts'
import type {
  AvailableFeatures,
  FeatureProvider,
  ProviderHost,
} from '../../server/features/feature-provider.ts'
import {
  checkHeaders,
  type HandlerResult,
  type IncomingRequest,
  stringParam,
} from '../../server/request.ts'
import { subscribe, unsubscribe } from '../../server/subscriptions/subscribe.ts'
import { executionMode } from '../../server/tasks/mode.ts'
import { isRecord } from '../../util/objects.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { CatalogEntry, ToolEntry } from '../catalog/entries.ts'
import { PersonalCatalogs, type PersonalCatalogsHost } from '../catalog/personal-catalogs.ts'
import type { Route } from '../dispatch/route.ts'
import { type ObservedHandler, observable } from '../observed.ts'
import { type ForwardContext, forward } from './forward.ts'
import { MergedLists, type MergedListsHost } from './merged-lists.ts'
import { missingResourceError, onMissing } from './missing.ts'
import type { ParkedCalls } from './parked-calls.ts'
import { SenderMetaCache } from './sender.ts'
import { forwardSkillRequest, routedSettings } from './skills.ts'
import { mayHaveName, whenListed } from './starting.ts'
import type { ToolSearch } from './tool-search.ts'
import { onlyReader, readersOf, searchUnlisted } from './unlisted.ts'
import { UpstreamCall, type UpstreamResult } from './upstream-call.ts'

/** What the proxied features need from their router. */
export interface ProxiedFeaturesHost
  extends Omit<MergedListsHost, 'personal'>,
    Omit<PersonalCatalogsHost, 'request'> {
  /** The client name and version that the router sends to upstream servers. */
  readonly info: Implementation
  readonly parkedCalls: ParkedCalls<UpstreamResult>
}

/** The features of the upstream servers, provided as if they were those of one server. */
export class ProxiedFeatures implements FeatureProvider {
  readonly methods: ReadonlyMap<string, (request: IncomingRequest) => HandlerResult>
  readonly available: AvailableFeatures
  readonly #server: ProviderHost
  readonly #host: ProxiedFeaturesHost
  readonly #context: ForwardContext
  readonly #personal: PersonalCatalogs

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
    this.#personal = new PersonalCatalogs({
      catalog: () => host.catalog(),
      routes: () => host.routes(),
      makeCatalog: listsOf => host.makeCatalog(listsOf),
      request: (request, route, method, params) => this.#list(request, route, method, params),
      onError: error => host.onError(error),
    })
    const lists = new MergedLists(server, {
      personal: this.#personal,
      toolSearch: host.toolSearch,
      catalog: () => host.catalog(),
      routes: () => host.routes(),
      unavailable: () => host.unavailable(),
    })
    const handlers: readonly (readonly [string, ObservedHandler])[] = [
      ['tools/list', request => lists.page(request, 'tools')],
      ['tools/call', this.#callTool],
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
    this.methods = new Map(handlers.map(([method, handler]) => [method, observable(handler)]))
  }

  /** Forwards at once what is found. What is not found may belong to a server that is starting. */
  #findAndForward<T>(
    request: IncomingRequest,
    kind: ListKind,
    find: (catalog: Catalog) => T | undefined,
    forwardTo: (found: T) => HandlerResult,
    onMiss: () => HandlerResult,
  ): HandlerResult {
    return this.#findShared(request, kind, find, forwardTo, () => {
      const listed = whenListed(this.#host.routes(), kind, () => request.exchange.signal)
      if (listed === undefined) return onMiss()
      return listed.then(() => this.#findShared(request, kind, find, forwardTo, onMiss))
    })
  }

  /** Forwards what is found in the catalog that all callers share, or among what this caller sees besides. */
  #findShared<T>(
    request: IncomingRequest,
    kind: ListKind,
    find: (catalog: Catalog) => T | undefined,
    forwardTo: (found: T) => HandlerResult,
    onMiss: () => HandlerResult,
  ): HandlerResult {
    const found = find(this.#host.catalog())
    if (found !== undefined) return forwardTo(found)
    if (!this.#personal.has(kind)) return onMiss()
    return this.#personal
      .find(request, kind, find)
      .then(own => (own === undefined ? onMiss() : forwardTo(own)))
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

  /** Forwards at once what is found by its name. What is not found may belong to a server that is starting. */
  #findByName<T>(
    request: IncomingRequest,
    kind: 'tools' | 'prompts',
    name: string,
    find: (catalog: Catalog) => T | undefined,
    forwardTo: (found: T) => HandlerResult,
  ): HandlerResult {
    return this.#findShared(request, kind, find, forwardTo, () => {
      const routes = this.#host.routes()
      const signal = () => request.exchange.signal
      const listed = whenListed(routes, kind, signal, mayHaveName(name))
      const findLate = () => find(this.#host.catalog())
      const missing = { request, kind, name, signal, find: findLate, forwardTo }
      if (listed === undefined) return onMissing(routes, { ...missing, hasWaited: false })
      return listed.then(() =>
        this.#findShared(request, kind, find, forwardTo, () =>
          onMissing(routes, { ...missing, hasWaited: true }),
        ),
      )
    })
  }

  readonly #callTool: ObservedHandler = (request, span) => {
    const { toolSearch } = this.#host
    return toolSearch === undefined
      ? this.#callByName(request, span)
      : this.#callOrSearch(request, span, toolSearch)
  }

  #callOrSearch(
    request: IncomingRequest,
    span: CallSpan | undefined,
    toolSearch: ToolSearch,
  ): HandlerResult {
    const name = stringParam(request.params, 'name')
    if (!toolSearch.isOwn(name)) return this.#callByName(request, span)
    const answerFrom = (catalog: Catalog): HandlerResult => {
      const found = toolSearch.search(catalog, name, request)
      if (found !== undefined) return found
      return this.#callByName(toolSearch.target(catalog, name, request) ?? request, span)
    }
    const answer = (): HandlerResult =>
      this.#personal.has('tools')
        ? this.#personal.read(request, 'tools').then(answerFrom)
        : answerFrom(this.#host.catalog())
    const listed = whenListed(this.#host.routes(), 'tools', () => request.exchange.signal)
    return listed === undefined ? answer() : listed.then(answer)
  }

  #callByName(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const name = stringParam(request.params, 'name')
    // Before closures are made for a tool that is not found: nearly every call is of a known one.
    const known = this.#host.catalog().tool(name)
    if (known !== undefined) return this.#callEntry(request, known, span)
    return this.#findByName(
      request,
      'tools',
      name,
      catalog => catalog.tool(name),
      (entry: ToolEntry) => this.#callEntry(request, entry, span),
    )
  }

  #callEntry(
    incoming: IncomingRequest,
    entry: ToolEntry,
    span: CallSpan | undefined,
  ): HandlerResult {
    const { route, name, trustedAnnotations, task, isServersChoice, shown, mirrored } = entry
    const request = mirrored === undefined ? incoming : withCheckedHeaders(mirrored, incoming)
    const { senders } = this.#context
    if (task === 'forbidden' && request.params.task === undefined) {
      const call = new UpstreamCall(senders, request, route, { name }, span, trustedAnnotations)
      return forward(call, this.#context)
    }
    const taskStart = isServersChoice ? 'in-handler' : 'at-once'
    const support = { name: shown.name, task, taskStart } as const
    const mode = executionMode(request, support, this.available.tasks)
    const run = (running: IncomingRequest): HandlerResult => {
      const isTask = task === 'required' || (task === 'optional' && running.task?.isBegun === true)
      const asTask = !isServersChoice && isTask
      return forward(
        new UpstreamCall(senders, running, route, { name }, span, trustedAnnotations, asTask),
        this.#context,
      )
    }
    const { tasks } = this.#server
    if (mode === 'task') return tasks.begin(request, shown.name, run)
    return mode === 'deferred' ? tasks.deferTask(request, shown.name, run) : run(request)
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
    return this.#findByName(request, 'prompts', name, catalog => catalog.prompt(name), forwardTo)
  }

  #read(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const uri = stringParam(request.params, 'uri')
    return this.#findAndForward(
      request,
      'resources',
      catalog => catalog.ownerOf(uri),
      route => this.#forward(request, route, {}, span),
      () => {
        const routes = readersOf(this.#host.routes())
        return this.#search(request, routes, errors.resourceNotFound({ uri }), span)
      },
    )
  }

  #forwardSkill(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const { catalog, routes } = this.#host
    return forwardSkillRequest(request, {
      catalog,
      routes,
      forward: route => this.#forward(request, route, {}, span),
      search: (those, notFound) => this.#search(request, those, notFound, span),
    })
  }

  #search(
    request: IncomingRequest,
    among: readonly Route[],
    notFound: Error,
    span: CallSpan | undefined,
  ): Promise<Members> {
    return searchUnlisted({
      among,
      routes: this.#host.routes(),
      notFound,
      forward: route => this.#forward(request, route, {}, span),
    })
  }

  #subscribe(request: IncomingRequest): HandlerResult {
    const listed = whenListed(this.#host.routes(), 'resources', () => request.exchange.signal)
    const handle = (): HandlerResult => {
      const uri = stringParam(request.params, 'uri')
      const owner = this.#host.catalog().ownerOf(uri) ?? onlyReader(this.#host.routes())
      if (owner === undefined) {
        throw missingResourceError(this.#host.routes()) ?? errors.resourceNotFound({ uri })
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
    if (isRecord(ref) && ref.type === 'ref/prompt' && typeof ref.name === 'string') {
      const { name } = ref
      return this.#findPrompt(request, name, entry =>
        this.#completeAt(request, entry.route, { ref: { ...ref, name: entry.name } }, span),
      )
    }
    if (isRecord(ref) && ref.type === 'ref/resource' && typeof ref.uri === 'string') {
      const { uri } = ref
      return this.#findAndForward(
        request,
        'resources',
        catalog => catalog.templateOwner(uri) ?? catalog.ownerOf(uri),
        route => this.#completeAt(request, route, {}, span),
        () => {
          const unlisted = missingResourceError(this.#host.routes())
          throw unlisted ?? errors.invalidCompletionReference({ reference: uri })
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
    const server = route.upstream.ready?.first?.server
    const declares = server?.revision.features.completionsCapability
    if (declares && server?.capabilities.completions === undefined) {
      return { completion: { values: [], total: 0, hasMore: false } }
    }
    return this.#forward(request, route, replaced, span)
  }
}

/**
 * Returns a request whose headers were compared with its arguments. The parsed arguments are forwarded:
 * of a name that occurs twice in their text, the next reader might take the other occurrence.
 */
function withCheckedHeaders(
  mirrored: MirroredArguments,
  request: IncomingRequest,
): IncomingRequest {
  const parsed = { ...request, params: parseRaw(request.params) }
  checkHeaders(mirrored, parsed)
  return parsed
}

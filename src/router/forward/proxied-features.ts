import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { MirroredArguments } from '../../mcp/param-headers/compare.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { promptFor, resourceFor, templateFor, toolFor } from '../../mcp/revisions/shape.ts'
import type { Implementation, Members } from '../../mcp/types/base.ts'
import { CallSpan, hasCallSubscribers, nameIn } from '../../observe/call.ts'
import type {
  AvailableFeatures,
  FeatureProvider,
  ProviderHost,
} from '../../server/features/feature-provider.ts'
import { pageOf } from '../../server/features/pagination.ts'
import {
  checkHeaders,
  type HandlerResult,
  type IncomingRequest,
  stringParam,
  whenReady,
} from '../../server/request.ts'
import { subscribe, unsubscribe } from '../../server/subscriptions/subscribe.ts'
import { executionMode } from '../../server/tasks/mode.ts'
import { isRecord } from '../../util/objects.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ToolEntry } from '../catalog/entries.ts'
import { exposeTools } from '../catalog/names.ts'
import type { Route } from '../dispatch/route.ts'
import { isUnavailable, unavailable } from './errors.ts'
import { type ForwardContext, forward } from './forward.ts'
import type { ParkedCalls } from './parked-calls.ts'
import { unavailableKey } from './results.ts'
import { SenderMetaCache } from './sender.ts'
import { UpstreamCall, type UpstreamResult } from './upstream-call.ts'

/** What the proxied features need from their router. */
export interface ProxiedFeaturesHost {
  /** The client name and version that the router sends to upstream servers. */
  readonly info: Implementation
  readonly parkedCalls: ParkedCalls<UpstreamResult>
  catalog(): Catalog
  /** The routes to the upstream servers, in their order. */
  routes(): readonly Route[]
  /** Settles when every server was connected or failed for the first time; undefined once that is so. */
  whenTried(): Promise<void> | undefined
  /** The servers whose features are missing from lists, with the reasons; undefined if there is none. */
  unavailable(): Members | undefined
}

/** Handles a request; `span`, if there are subscribers, records where the call goes. */
type Handler = (request: IncomingRequest, span: CallSpan | undefined) => HandlerResult

/** The features of the upstream servers, provided as if they were those of one server. */
export class ProxiedFeatures implements FeatureProvider {
  readonly methods: ReadonlyMap<string, (request: IncomingRequest) => HandlerResult>
  readonly available: AvailableFeatures
  readonly #server: ProviderHost
  readonly #host: ProxiedFeaturesHost
  readonly #context: ForwardContext
  /** Lists as converted for each revision, kept until the catalog changes. */
  readonly #converted = new Map<string, readonly unknown[]>()
  #convertedFrom: Catalog | undefined

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
    }
    const handlers: readonly (readonly [string, Handler])[] = [
      ['tools/list', request => this.#list(request, 'tools', 'tools', toolFor)],
      ['tools/call', this.#callTool],
      ['resources/list', request => this.#list(request, 'resources', 'resources', resourceFor)],
      [
        'resources/templates/list',
        request => this.#list(request, 'templates', 'resourceTemplates', templateFor),
      ],
      ['resources/read', (request, span) => this.#read(request, span)],
      ['resources/subscribe', request => this.#subscribe(request)],
      ['resources/unsubscribe', request => this.#unsubscribe(request)],
      ['prompts/list', request => this.#list(request, 'prompts', 'prompts', promptFor)],
      ['prompts/get', (request, span) => this.#getPrompt(request, span)],
      ['completion/complete', (request, span) => this.#complete(request, span)],
    ]
    this.methods = new Map(handlers.map(([method, handler]) => [method, observable(handler)]))
  }

  /** Runs `handle` at once, or, while servers are being connected for the first time, after that. */
  #whenTried(handle: () => HandlerResult): HandlerResult {
    const tried = this.#host.whenTried()
    return tried === undefined ? handle() : tried.then(handle)
  }

  /** Forwards at once what is found. What is not found may belong to a server that is being connected. */
  #findAndForward<T>(
    find: () => T | undefined,
    forwardTo: (found: T) => HandlerResult,
    onMiss: () => HandlerResult,
  ): HandlerResult {
    const found = find()
    if (found !== undefined) return forwardTo(found)
    return this.#whenTried(() => {
      const late = find()
      return late === undefined ? onMiss() : forwardTo(late)
    })
  }

  #list<K extends 'tools' | 'resources' | 'templates' | 'prompts', T>(
    request: IncomingRequest,
    kind: K,
    member: string,
    convert: (revision: Revision, entry: Catalog[K][number]['shown'] & T) => unknown,
  ): HandlerResult {
    return this.#whenTried(() => {
      const catalog = this.#host.catalog()
      const entries = catalog[kind] as readonly Catalog[K][number][]
      const { revision } = request.caller
      const all = this.#cached(catalog, `${kind} ${revision.name}`, () =>
        entries.map(({ shown }) => convert(revision, shown as Catalog[K][number]['shown'] & T)),
      )
      const { cursors, pageSize } = this.#server
      // The check: the list under this key is made by the line below.
      const places =
        all.length > pageSize
          ? (this.#cached(catalog, `${kind} places`, () =>
              entries.map(({ place }) => place),
            ) as readonly number[])
          : undefined
      const page = pageOf(all, kind, request.params, cursors, pageSize, places)
      return whenReady(page, ({ items, nextCursor }) => {
        const missing = this.#host.unavailable()
        return {
          [member]: items,
          ...(nextCursor !== undefined && { nextCursor }),
          ...(missing !== undefined && { _meta: { [unavailableKey]: missing } }),
        }
      })
    })
  }

  #cached(catalog: Catalog, key: string, make: () => readonly unknown[]): readonly unknown[] {
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

  readonly #callTool: Handler = (request, span) => {
    const name = stringParam(request.params, 'name')
    // Before closures are made for a tool that is not found: nearly every call is of a known one.
    const known = this.#host.catalog().tool(name)
    if (known !== undefined) return this.#callEntry(request, known, span)
    return this.#findAndForward(
      () => this.#host.catalog().tool(name),
      entry => this.#callEntry(request, entry, span),
      () => {
        throw this.#notFound('tools', name)
      },
    )
  }

  /** The error for an unknown tool or prompt: no server has it, or its server is unavailable. */
  #notFound(kind: 'tools' | 'prompts', name: string): RpcError {
    for (const { upstream } of this.#host.routes()) {
      const { unavailableReason, known, options } = upstream
      if (unavailableReason === undefined) continue
      const rules = kind === 'tools' ? options.tools : undefined
      const { byName } = exposeTools([
        { name: upstream.name, prefix: options.prefix, rules, tools: [...known[kind]] },
      ])
      if (byName.has(name)) return unavailable(upstream.name, unavailableReason)
    }
    return kind === 'tools'
      ? errors.toolNotFound({ tool: name })
      : errors.promptNotFound({ prompt: name })
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
    return this.#findAndForward(
      () => this.#host.catalog().prompt(name),
      entry => this.#forward(request, entry.route, { name: entry.name }, span),
      () => {
        throw this.#notFound('prompts', name)
      },
    )
  }

  #read(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const uri = stringParam(request.params, 'uri')
    return this.#findAndForward(
      () => this.#host.catalog().ownerOf(uri),
      route => this.#forward(request, route, {}, span),
      () => this.#search(request, uri, span),
    )
  }

  /** Reads an unlisted resource from the first server that has it: servers need not list all of them. */
  async #search(
    request: IncomingRequest,
    uri: string,
    span: CallSpan | undefined,
  ): Promise<Members> {
    let absent: RpcError | undefined
    for (const route of readersOf(this.#host.routes())) {
      try {
        return await this.#forward(request, route, {}, span)
      } catch (error) {
        // An unavailable server hides its own resources only.
        if (isUnavailable(error)) absent ??= error
        else if (!isNotFound(error)) throw error
      }
    }
    throw absent ?? errors.resourceNotFound({ uri })
  }

  #subscribe(request: IncomingRequest): HandlerResult {
    return this.#whenTried(() => {
      const uri = stringParam(request.params, 'uri')
      const owner = this.#host.catalog().ownerOf(uri) ?? onlyReader(this.#host.routes())
      if (owner === undefined) throw errors.resourceNotFound({ uri })
      return subscribe(request, uri, this.#server.subscriptions)
    })
  }

  #unsubscribe(request: IncomingRequest): HandlerResult {
    return unsubscribe(request, stringParam(request.params, 'uri'), this.#server.subscriptions)
  }

  #complete(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const { ref } = request.params
    if (isRecord(ref) && ref.type === 'ref/prompt' && typeof ref.name === 'string') {
      const { name } = ref
      return this.#findAndForward(
        () => this.#host.catalog().prompt(name),
        entry =>
          this.#completeAt(request, entry.route, { ref: { ...ref, name: entry.name } }, span),
        () => {
          throw errors.promptNotFound({ prompt: name })
        },
      )
    }
    if (isRecord(ref) && ref.type === 'ref/resource' && typeof ref.uri === 'string') {
      const { uri } = ref
      return this.#findAndForward(
        () => this.#host.catalog().templateOwner(uri) ?? this.#host.catalog().ownerOf(uri),
        route => this.#completeAt(request, route, {}, span),
        () => {
          throw errors.invalidCompletionReference({ reference: uri })
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

/** Returns the route to the only server that has resources: an unlisted one can only be its own. */
export function onlyReader(routes: readonly Route[]): Route | undefined {
  const [first, second] = readersOf(routes)
  return second === undefined ? first : undefined
}

/** Makes the calls of a handler observable. Without subscribers the overhead is a few branches per call. */
function observable(handler: Handler): (request: IncomingRequest) => HandlerResult {
  return request =>
    hasCallSubscribers() ? observed(handler, request) : handler(request, undefined)
}

function observed(handler: Handler, request: IncomingRequest): HandlerResult {
  const { method, params, id, caller, exchange } = request
  const { client, revision, principal } = caller
  const facts = {
    principal: principal?.id,
    ...(client !== undefined && { client: { name: client.name, version: client.version } }),
    revision: revision.name,
    era: revision.era,
  }
  const span = new CallSpan({ method, name: nameIn(method, params), id, caller: facts })
  try {
    return span.follow(handler(request, span), exchange)
  } catch (error) {
    span.fail(error, exchange.signal.aborted)
    throw error
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

function readersOf(routes: readonly Route[]): readonly Route[] {
  return routes.filter(
    ({ upstream }) => upstream.ready?.first?.server.capabilities.resources !== undefined,
  )
}

function isNotFound(error: unknown): boolean {
  return (
    error instanceof RpcError &&
    (error.kind === 'resource_not_found' ||
      error.kind === 'method_not_found' ||
      error.kind === 'invalid_params')
  )
}

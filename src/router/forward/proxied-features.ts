import { asRead } from '../../jsonrpc/codec/raw-json.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { MirroredArguments } from '../../mcp/param-headers/compare.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { promptFor, resourceFor, templateFor, toolFor } from '../../mcp/revisions/shape.ts'
import type { Implementation, Members } from '../../mcp/types/base.ts'
import type { LiveCall } from '../../observe/call.ts'
import type { Offer, Offered, OfferHost } from '../../server/features/feature-provider.ts'
import { pageOf } from '../../server/features/page.ts'
import { checkHeaders } from '../../server/header-check.ts'
import { type Answer, type ServerRequest, stringParam } from '../../server/request.ts'
import { subscribe, unsubscribe } from '../../server/subscriptions/subscribe.ts'
import { mannerOf } from '../../server/tasks/mode.ts'
import { isRecord } from '../../util/record.ts'
import type { Catalogue } from '../catalog/catalog.ts'
import type { ToolEntry } from '../catalog/entries.ts'
import { exposeTools } from '../catalog/names.ts'
import type { Route } from '../dispatch/route.ts'
import type { Delivered } from './call.ts'
import { isUnavailable, unavailable } from './errors.ts'
import { type PassageHost, pass } from './forward.ts'
import { type HeardAnswer, heard } from './heard.ts'
import { Senders } from './hop.ts'
import { missingKey } from './meta-keys.ts'
import type { HeldCalls } from './parked-calls.ts'

/** What the offer of a router is made of. */
export interface RoutedHost {
  readonly info: Implementation
  readonly held: HeldCalls<Delivered>
  catalogue(): Catalogue
  /** The servers, in their order. */
  routes(): readonly Route[]
  /** Settles when every server has been tried, or has had its time: undefined where all have. */
  whenTried(): Promise<void> | undefined
  /** Servers that offer nothing now though they should, and why. */
  missing(): Members | undefined
}

/** What the servers behind a router offer, as if it were one server. */
export class RoutedOffer implements Offer {
  readonly methods: ReadonlyMap<string, (request: ServerRequest) => Answer>
  readonly offered: Offered
  readonly #server: OfferHost
  readonly #host: RoutedHost
  readonly #passage: PassageHost
  /** Lists as each revision says them, for as long as the catalogue is the same. */
  readonly #shaped = new Map<string, readonly unknown[]>()
  #shapedOf: Catalogue | undefined

  constructor(server: OfferHost, host: RoutedHost) {
    this.#server = server
    this.#host = host
    this.#passage = { rounds: server.rounds, held: host.held, senders: new Senders(host.info) }
    this.offered = {
      tools: true,
      resources: true,
      prompts: true,
      completions: true,
      // Said to whoever connects, maybe before the servers are known; the tools say which can be one.
      tasks: true,
    }
    this.methods = new Map(
      Array.from(this.#table(), ([method, answer]) => [method, heard(answer)] as const),
    )
  }

  #table(): ReadonlyMap<string, HeardAnswer> {
    return new Map<string, HeardAnswer>([
      ['tools/list', request => this.#list(request, 'tools', 'tools', toolFor)],
      ['tools/call', (request, live) => this.#call(request, live)],
      ['resources/list', request => this.#list(request, 'resources', 'resources', resourceFor)],
      [
        'resources/templates/list',
        request => this.#list(request, 'templates', 'resourceTemplates', templateFor),
      ],
      ['resources/read', (request, live) => this.#read(request, live)],
      ['resources/subscribe', request => this.#subscribe(request)],
      ['resources/unsubscribe', request => this.#unsubscribe(request)],
      ['prompts/list', request => this.#list(request, 'prompts', 'prompts', promptFor)],
      ['prompts/get', (request, live) => this.#prompt(request, live)],
      ['completion/complete', (request, live) => this.#complete(request, live)],
    ])
  }

  /** What is known is answered at once; while servers are being tried for the first time, when they have been. */
  #settled(answer: () => Answer): Answer {
    const tried = this.#host.whenTried()
    return tried === undefined ? answer() : tried.then(answer)
  }

  /** What is found is passed on at once. Only what nobody knows may be that of a server yet to be tried. */
  #found<T>(find: () => T | undefined, passOn: (found: T) => Answer, miss: () => Answer): Answer {
    const found = find()
    if (found !== undefined) return passOn(found)
    return this.#settled(() => {
      const late = find()
      return late === undefined ? miss() : passOn(late)
    })
  }

  #list<K extends 'tools' | 'resources' | 'templates' | 'prompts', T>(
    request: ServerRequest,
    kind: K,
    member: string,
    shape: (revision: Revision, entry: Catalogue[K][number]['shown'] & T) => unknown,
  ): Answer {
    return this.#settled(() => {
      const catalogue = this.#host.catalogue()
      const entries = catalogue[kind] as readonly Catalogue[K][number][]
      const { revision } = request.caller
      const all = this.#shapedAs(catalogue, `${kind} ${revision.name}`, () =>
        entries.map(({ shown }) => shape(revision, shown as Catalogue[K][number]['shown'] & T)),
      )
      const { cursors, pageSize } = this.#server
      // The check: what is kept under this key was put there by the line below.
      const places =
        all.length > pageSize
          ? (this.#shapedAs(catalogue, `${kind} places`, () =>
              entries.map(({ place }) => place),
            ) as readonly number[])
          : undefined
      const { items, nextCursor } = pageOf(all, kind, request.params, cursors, pageSize, places)
      const missing = this.#host.missing()
      return {
        [member]: items,
        ...(nextCursor !== undefined && { nextCursor }),
        ...(missing !== undefined && { _meta: { [missingKey]: missing } }),
      }
    })
  }

  #shapedAs(catalogue: Catalogue, key: string, make: () => readonly unknown[]): readonly unknown[] {
    if (this.#shapedOf !== catalogue) {
      this.#shapedOf = catalogue
      this.#shaped.clear()
    }
    let shaped = this.#shaped.get(key)
    if (shaped === undefined) {
      shaped = make()
      this.#shaped.set(key, shaped)
    }
    return shaped
  }

  #call(request: ServerRequest, live: LiveCall | undefined): Answer {
    const name = stringParam(request.params, 'name')
    // Before anything is made for those that are not there: nearly every call is one of a tool that is.
    const known = this.#host.catalogue().tool(name)
    if (known !== undefined) return this.#callEntry(request, known, live)
    return this.#found(
      () => this.#host.catalogue().tool(name),
      entry => this.#callEntry(request, entry, live),
      () => {
        throw this.#unknown('tools', name)
      },
    )
  }

  /** Why there is no such tool or prompt: nobody has it, or whoever has it is not there. */
  #unknown(kind: 'tools' | 'prompts', name: string): RpcError {
    for (const { upstream } of this.#host.routes()) {
      const { excuse, known, options } = upstream
      if (excuse === undefined) continue
      const rules = kind === 'tools' ? options.tools : undefined
      const { byName } = exposeTools([
        { name: upstream.name, prefix: options.prefix, rules, tools: [...known[kind]] },
      ])
      if (byName.has(name)) return unavailable(upstream.name, excuse)
    }
    return kind === 'tools'
      ? errors.toolNotFound({ tool: name })
      : errors.promptNotFound({ prompt: name })
  }

  #callEntry(asked: ServerRequest, entry: ToolEntry, live: LiveCall | undefined): Answer {
    const { task, isServersChoice, shown, mirrored } = entry
    const request = mirrored === undefined ? asked : compared(mirrored, asked)
    if (task === 'forbidden' && request.params.task === undefined) {
      return this.#run(request, entry, live)
    }
    const taskBegins = isServersChoice ? 'in-handler' : 'at-once'
    const support = { name: shown.name, task, taskBegins } as const
    const manner = mannerOf(request, support, this.offered.tasks)
    const { tasks } = this.#server
    const work = (working: ServerRequest): Answer => this.#run(working, entry, live)
    if (manner === 'task') return tasks.begin(request, shown.name, work)
    return manner === 'later' ? tasks.beginLater(request, shown.name, work) : work(request)
  }

  #run(
    request: ServerRequest,
    { route, name, believed, task, isServersChoice }: ToolEntry,
    live: LiveCall | undefined,
  ): Answer {
    const isTask = task === 'required' || (task === 'optional' && request.task?.isBegun)
    return pass(
      {
        request,
        route,
        own: { name },
        annotations: believed,
        asTask: !isServersChoice && isTask,
        live,
      },
      this.#passage,
    )
  }

  #prompt(request: ServerRequest, live: LiveCall | undefined): Answer {
    const name = stringParam(request.params, 'name')
    return this.#found(
      () => this.#host.catalogue().prompt(name),
      entry =>
        pass({ request, route: entry.route, own: { name: entry.name }, live }, this.#passage),
      () => {
        throw this.#unknown('prompts', name)
      },
    )
  }

  #read(request: ServerRequest, live: LiveCall | undefined): Answer {
    const uri = stringParam(request.params, 'uri')
    return this.#found(
      () => this.#host.catalogue().ownerOf(uri),
      route => pass({ request, route, own: {}, live }, this.#passage),
      () => this.#search(request, uri, live),
    )
  }

  /** Reads what nobody lists from whoever has it: servers need not list all that they have. */
  async #search(request: ServerRequest, uri: string, live: LiveCall | undefined): Promise<Members> {
    let absent: RpcError | undefined
    for (const route of readersOf(this.#host.routes())) {
      try {
        return await pass({ request, route, own: {}, live }, this.#passage)
      } catch (error) {
        // One that is not there hides what it has, and nothing else.
        if (isUnavailable(error)) absent ??= error
        else if (!isUnknown(error)) throw error
      }
    }
    throw absent ?? errors.resourceNotFound({ uri })
  }

  #subscribe(request: ServerRequest): Answer {
    return this.#settled(() => {
      const uri = stringParam(request.params, 'uri')
      const owner = this.#host.catalogue().ownerOf(uri) ?? onlyReader(this.#host.routes())
      if (owner === undefined) {
        throw errors.resourceNotFound({ uri })
      }
      return subscribe(request, uri, this.#server.subscriptions)
    })
  }

  #unsubscribe(request: ServerRequest): Answer {
    return unsubscribe(request, stringParam(request.params, 'uri'), this.#server.subscriptions)
  }

  #complete(request: ServerRequest, live: LiveCall | undefined): Answer {
    const { ref } = request.params
    if (isRecord(ref) && ref.type === 'ref/prompt' && typeof ref.name === 'string') {
      const { name } = ref
      return this.#found(
        () => this.#host.catalogue().prompt(name),
        entry =>
          this.#completion(request, entry.route, { ref: { ...ref, name: entry.name } }, live),
        () => {
          throw errors.promptNotFound({ prompt: name })
        },
      )
    }
    if (isRecord(ref) && ref.type === 'ref/resource' && typeof ref.uri === 'string') {
      const { uri } = ref
      return this.#found(
        () => this.#host.catalogue().templateOwner(uri) ?? this.#host.catalogue().ownerOf(uri),
        route => this.#completion(request, route, {}, live),
        () => {
          throw errors.invalidCompletionReference({ reference: uri })
        },
      )
    }
    const reference = String(isRecord(ref) ? ref.type : ref)
    throw errors.invalidCompletionReference({ reference })
  }

  #completion(
    request: ServerRequest,
    route: Route,
    own: Members,
    live: LiveCall | undefined,
  ): Answer {
    const server = route.upstream.ready?.first?.server
    const declares = server?.revision.features.completionsCapability
    if (declares && server?.capabilities.completions === undefined) {
      return { completion: { values: [], total: 0, hasMore: false } }
    }
    return pass({ request, route, own, live }, this.#passage)
  }
}

/** The only one of the servers that has resources at all: what nobody lists can be but its own. */
export function onlyReader(routes: readonly Route[]): Route | undefined {
  const [first, second] = readersOf(routes)
  return second === undefined ? first : undefined
}

/**
 * A request whose headers agree with its arguments. These go on as they were compared: of a name that
 * stands in their text twice, whoever reads it next might take the other one.
 */
function compared(mirrored: MirroredArguments, request: ServerRequest): ServerRequest {
  const read = { ...request, params: asRead(request.params) }
  checkHeaders(mirrored, read)
  return read
}

function readersOf(routes: readonly Route[]): readonly Route[] {
  return routes.filter(
    ({ upstream }) => upstream.ready?.first?.server.capabilities.resources !== undefined,
  )
}

function isUnknown(error: unknown): boolean {
  return (
    error instanceof RpcError &&
    (error.kind === 'resource_not_found' ||
      error.kind === 'method_not_found' ||
      error.kind === 'invalid_params')
  )
}

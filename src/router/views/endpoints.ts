import type { Middleware } from '../../jsonrpc/handler.ts'
import type { Caller } from '../../mcp/caller.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { McpEndpoint } from '../../server/core/endpoint.ts'
import type { ServerSession } from '../../server/core/session.ts'
import type { ServerInfo, ServerOptions } from '../../server/options.ts'
import type { ChangeNotice, Subscriptions } from '../../server/subscriptions/subscriptions.ts'
import type { TaskRun } from '../../server/tasks/run.ts'
import { didYouMean } from '../../util/nearest.ts'
import type { Traffic } from '../../util/traffic.ts'
import type { CompiledPolicy } from '../access/compiled-policy.ts'
import { rawCalls } from '../forward/params.ts'
import { ProxiedFeatures, type ProxiedFeaturesHost } from '../forward/proxied-features.ts'
import type { ToolSearchOptions, ViewOptions } from '../options.ts'
import { SharedView, type View, type ViewHost } from './view.ts'
import { viewChoice } from './view-choice.ts'

/** What the endpoints of a router need from it. */
export interface EndpointsHost extends ViewHost, Omit<ProxiedFeaturesHost, 'viewOf'> {
  readonly server: ServerInfo
  readonly options: ServerOptions
  readonly traffic: Traffic
  readonly toolSearch: ToolSearchOptions | undefined
  readonly views: Readonly<Record<string, ViewOptions>>
  /** The access policy in effect; undefined if there is none. */
  policy(): CompiledPolicy | undefined
}

type RouterEndpoint = McpEndpoint<ProxiedFeatures>

/** The endpoints of a router: its own, and one for each of its views. */
export class Endpoints {
  /** The endpoint of the router, at which callers have different views if rules say so. */
  readonly own: RouterEndpoint
  readonly #host: EndpointsHost
  readonly #views = new Map<string, RouterEndpoint>()

  constructor(host: EndpointsHost) {
    this.#host = host
    const choices = Object.entries(host.views).map(([name, options]) => {
      const { toolSearch = host.toolSearch, instructions, callers = [] } = options
      const view = new SharedView(host, toolSearch || undefined, options)
      const info = { ...host.server, ...(instructions !== undefined && { instructions }) }
      this.#views.set(
        name,
        endpointOf(host, info, () => view),
      )
      return { view, callers }
    })
    const all = new SharedView(host, host.toolSearch)
    this.own = endpointOf(host, host.server, viewChoice(all, choices))
  }

  /** Returns the endpoint of a view, to be served at an address of its own. Throws a TypeError for an unknown name. */
  view(name: string): Endpoint {
    const endpoint = this.#views.get(name)
    if (endpoint === undefined) {
      const known = [...this.#views.keys()]
      const hint = didYouMean(name, known) || `; the views are ${known.join(', ') || 'none'}`
      throw new TypeError(`there is no view ${JSON.stringify(name)}${hint}`)
    }
    const { profile, revisions, handle } = endpoint
    const { traffic } = this.#host
    return {
      profile,
      revisions,
      rawCalls,
      traffic,
      handle,
      attach: (channel, envelope) => endpoint.attach(channel, envelope),
      attachSession: (channel, envelope, hooks) => endpoint.attachSession(channel, envelope, hooks),
    }
  }

  /** The connections of callers to all endpoints. */
  get sessions(): readonly ServerSession[] {
    return this.#all.flatMap(({ sessions }) => [...sessions])
  }

  /** The tasks that calls have become, at all endpoints. */
  get runningTasks(): readonly TaskRun[] {
    return this.#all.flatMap(({ runningTasks }) => [...runningTasks])
  }

  /** The subscriptions of the callers of each endpoint. */
  get subscriptions(): readonly Subscriptions[] {
    return this.#all.map(({ subscriptions }) => subscriptions)
  }

  /** Notifies the subscribed callers of all endpoints. */
  publish(change: ChangeNotice): void {
    for (const { subscriptions } of this.#all) subscriptions.publish(change)
  }

  /** Notifies the callers of all endpoints that are subscribed to a resource, and may still read it. */
  publishUpdate(uri: string): void {
    for (const { subscriptions, features } of this.#all) {
      const isFor = (caller: Caller): boolean => features.mayRead(uri, caller)
      const isGuarded = this.#host.policy() !== undefined
      subscriptions.publish({ type: 'resource', uri, ...(isGuarded && { isFor }) })
    }
  }

  /** Adds a middleware around every request, at every endpoint. */
  use(middleware: Middleware): void {
    for (const endpoint of this.#all) endpoint.use(middleware)
  }

  /** Notifies the client of a URL elicitation that it is complete, wherever that client is connected. Ignores anything but an id. */
  completeElicitation(id: unknown): void {
    if (typeof id !== 'string') return
    for (const endpoint of this.#all) endpoint.completeElicitation(id)
  }

  /** Closes every connection gracefully. */
  async close(options?: { readonly drainMs?: number }): Promise<void> {
    await Promise.all(this.#all.map(endpoint => endpoint.close(options)))
  }

  get #all(): readonly RouterEndpoint[] {
    return [this.own, ...this.#views.values()]
  }
}

function endpointOf(
  host: EndpointsHost,
  server: ServerInfo,
  sharedViewOf: (caller: Caller) => SharedView,
): RouterEndpoint {
  const viewOf = (caller: Caller): View => {
    const view = sharedViewOf(caller)
    const policy = host.policy()
    return policy === undefined ? view : view.for(policy.accessOf(caller.principal))
  }
  return new McpEndpoint(
    server,
    provider => new ProxiedFeatures(provider, { ...host, viewOf }),
    host.options,
  )
}

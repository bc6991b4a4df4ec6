import type { Channel, Envelope } from '../jsonrpc/channel.ts'
import type { Handler, Middleware } from '../jsonrpc/handler.ts'
import type { AuthorizationEvent } from '../mcp/callers/authorization-event.ts'
import type { Attachment, Endpoint, PersonalLists } from '../mcp/endpoint.ts'
import { type ListKind, listKinds } from '../mcp/list-changes.ts'
import type { Profile } from '../mcp/profile.ts'
import type { Revision } from '../mcp/revisions/revisions.ts'
import type { Implementation } from '../mcp/types/base.ts'
import { personalLists } from '../server/subscriptions/personal-lists.ts'
import { limits as limitTable } from '../util/limits/limits.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'
import { Deadlines, systemDeadlines } from '../util/time/deadline.ts'
import { Traffic } from '../util/traffic.ts'
import { version as ownVersion } from '../util/version.ts'
import { CompiledPolicy } from './access/compiled-policy.ts'
import type { AccessPolicy } from './access/policy.ts'
import { type CallerState, callerState } from './caller-state.ts'
import { type Catalog, mergedCatalog } from './catalog/catalog.ts'
import type { HiddenEntry } from './catalog/entries.ts'
import { ListMemory } from './catalog/list-memory.ts'
import { type DeadLetter, DeadLetters } from './dispatch/dead-letters.ts'
import { Route, type RouteHost } from './dispatch/route.ts'
import { publishInstanceEvent, publishListFailed, publishListRecovered } from './events.ts'
import { rawCalls } from './forward/params.ts'
import { ParkedCalls } from './forward/parked-calls.ts'
import type { UpstreamResult } from './forward/upstream-call.ts'
import { healthOf, type RouterHealth } from './health.ts'
import { checkRouterOptions } from './option-table.ts'
import type { RouterOptions, UpstreamOptions } from './options.ts'
import { PinChecker } from './pins/check.ts'
import { type PinImportOptions, Pins } from './pins/pins.ts'
import type { PinRecord } from './pins/records.ts'
import { Limits } from './policy/limit.ts'
import { priorityRules } from './policy/priority.ts'
import { StartGate } from './policy/start-gate.ts'
import { type RegistryChange, ServerRegistry, type UnregisterOptions } from './registry.ts'
import type { ExposedDefinition, ExposedTool, ServerStatus } from './status.ts'
import { exposedDefinitionOf, serverStatusOf } from './status.ts'
import { connectTimeoutOf, Upstream } from './upstream/upstream.ts'
import { Endpoints } from './views/endpoints.ts'
import { WatchedResources } from './watched-resources.ts'

/**
 * Exposes many upstream servers as one. Callers see a single server with the tools, resources and
 * prompts of all, in every revision and over every transport. An upstream server is a process, an
 * address or an endpoint of this process, with one or more instances.
 *
 * The constructor starts connecting. The owner of the router calls `close`.
 */
export class Router implements Endpoint {
  /** Handles one self-contained message, without a connection. */
  readonly handle: Handler
  /** The choices that the protocol leaves open, such as error codes. */
  readonly profile: Profile
  /** @internal Serves a channel whose session another process can continue, or continues one. */
  readonly attachSession: NonNullable<Endpoint['attachSession']>
  /** The parts of requests that the router only forwards, so that they are not parsed. */
  readonly rawCalls = rawCalls
  /** Messages and bytes exchanged with callers, counted when the router is served by `listen` or `serve`. */
  readonly traffic = new Traffic()
  /** True: the router itself publishes call events on the channels of `trunkline/observe`. */
  readonly isObserved = true
  /** The connections, subscriptions and tasks of callers. */
  readonly callers: CallerState
  /** The pinned tool definitions. */
  readonly pins: Pins
  readonly #options: RouterOptions
  readonly #endpoints: Endpoints
  readonly #registry: ServerRegistry
  readonly #pinChecker: PinChecker
  readonly #watched: WatchedResources
  readonly #memory: ListMemory
  readonly #startGate: StartGate
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #parkedCalls: ParkedCalls<UpstreamResult>
  readonly #info: Implementation
  readonly #routeHost: RouteHost
  readonly #deadLetters: DeadLetters
  readonly #listeners = new Set<(change: RegistryChange) => void>()
  #catalog: Catalog | undefined
  #policy: CompiledPolicy | undefined

  /** Throws a TypeError for invalid options; nothing has been started then. */
  constructor(options: RouterOptions = {}) {
    checkRouterOptions(options)
    this.#options = options
    this.#policy = options.policy && new CompiledPolicy(options.policy)
    this.pins = options.pins ?? new Pins()
    this.#pinChecker = new PinChecker(this.pins, {
      routes: () => this.#registry.list(),
      onPinned: pins => options.onPinned?.(pins),
      onChange: () => this.#changed(['tools']),
      onError: error => this.#onError(error),
    })
    this.#memory = new ListMemory(options)
    const { name = 'trunkline', version = ownVersion, title, icons, instructions } = options
    this.#clock = options.clock ?? systemClock
    this.#deadlines = options.clock === undefined ? systemDeadlines : new Deadlines(options.clock)
    this.#startGate = new StartGate(options.concurrentStarts, this.#deadlines)
    this.#parkedCalls = new ParkedCalls(this.#deadlines, options.parkedMs)
    this.#info = { name, version, title }
    const { limits: router, sharedRates: shared } = options
    this.#deadLetters = new DeadLetters(options.deadLetters)
    this.#routeHost = {
      clock: this.#clock,
      limits: new Limits({ router, shared, now: () => this.#clock.now() }),
      outbound: options.outbound ?? [],
      priorityOf: priorityRules(options.priorities),
      deadLetters: this.#deadLetters,
      audit: options.audit,
    }
    this.#endpoints = new Endpoints({
      server: { name, version, title, icons, instructions },
      options: {
        pageSize: options.pageSize,
        keys: options.keys,
        tasks: options.tasks,
        onError: options.onError,
      },
      traffic: this.traffic,
      info: this.#info,
      parkedCalls: this.#parkedCalls,
      toolSearch: options.toolSearch,
      views: options.views ?? {},
      policy: () => this.#policy,
      audit: options.audit,
      catalog: () => this.#currentCatalog(),
      makeCatalog: listsOf => mergedCatalog(this.#registry.list(), this.pins, listsOf),
      routes: () => this.#registry.list(),
      onError: error => this.#onError(error),
    })
    this.callers = callerState(this.#endpoints)
    this.#watched = new WatchedResources({
      clock: this.#clock,
      endpoints: this.#endpoints,
      catalog: () => this.#currentCatalog(),
      routes: () => this.#registry.list(),
    })
    this.handle = this.#endpoints.own.handle
    this.profile = this.#endpoints.own.profile
    this.attachSession = (...session) => this.#endpoints.own.attachSession(...session)
    this.#registry = new ServerRegistry({
      make: (server, upstreamOptions) => this.#make(server, upstreamOptions),
      onChange: change => this.#onChange(change),
    })
    this.#registry.registerAll(options.servers ?? {})
  }

  /** The protocol revisions that callers can use, oldest first. */
  get revisions(): readonly Revision[] {
    return this.#endpoints.own.revisions
  }

  /** @internal The lists that differ between callers, for another router of this process. */
  get personalLists(): PersonalLists {
    return personalLists(
      this.#endpoints.own.subscriptions,
      kind =>
        this.#policy !== undefined ||
        this.#registry.list().some(({ upstream }) => upstream.isPersonal(kind)),
    )
  }

  /** Resolves when the first connection attempt to every server has succeeded or failed. */
  async ready(): Promise<void> {
    await Promise.all(this.#registry.list().map(({ upstream }) => upstream.tried))
  }

  /**
   * Adds a server after the others. Throws a TypeError for a name that is taken or invalid, and a
   * ChannelError `'closed'` after `close`.
   */
  register(name: string, options: UpstreamOptions | Endpoint): void {
    this.#registry.register(name, options)
  }

  /** Removes a server; resolves when it has stopped, with false if there is none of this name. */
  unregister(name: string, options?: UnregisterOptions): Promise<boolean> {
    return this.#registry.unregister(name, options)
  }

  /**
   * Replaces the servers, in this order; servers with the same options are not interrupted. Rejects, and
   * changes nothing, if a server is invalid or after `close`. Updates run one after the other.
   */
  update(
    servers: NonNullable<RouterOptions['servers']>,
    options?: UnregisterOptions,
  ): Promise<void> {
    return this.#registry.update(servers, options)
  }

  /**
   * Replaces the access policy, for calls from now on; undefined removes it. Throws a TypeError for an invalid
   * policy; the old one stays in effect then.
   */
  setPolicy(policy: AccessPolicy | undefined): void {
    this.#policy = policy && new CompiledPolicy(policy)
    for (const type of listKinds) this.#endpoints.publish({ type })
  }

  /** Returns the status of one server; undefined if there is none of this name. */
  server(name: string): ServerStatus | undefined {
    const route = this.#registry.find(name)
    return route && serverStatusOf(route)
  }

  /** Returns the status of every server, in order. */
  servers(): readonly ServerStatus[] {
    return this.#registry.list().map(serverStatusOf)
  }

  /**
   * Returns the overall health, for `/readyz`: `down` only if no server can be called. Its reasons hold no
   * output of servers, no addresses and no paths; `servers()` has the whole reasons.
   */
  health(): RouterHealth {
    return healthOf(this.servers(), this.#deadLetters.count)
  }

  /** Yields the traffic exchanged with each server; zero for an endpoint of this process. */
  *upstreamTraffic(): Generator<readonly [server: string, traffic: Traffic]> {
    for (const { name, upstream } of this.#registry.list()) yield [name, upstream.traffic]
  }

  /** Returns the tools that callers see, in order: the exposed name and the server of each. */
  tools(): readonly ExposedTool[] {
    return this.toolDefinitions().map(({ name, server }) => ({ name, server }))
  }

  /** Returns the definitions of these tools, with their names on the servers, in the same order. */
  toolDefinitions(): readonly ExposedDefinition[] {
    return this.#currentCatalog().tools.map(exposedDefinitionOf)
  }

  /**
   * Returns the newest calls that the router refused or could not deliver, or whose outcome is unknown,
   * oldest first. The option `deadLetters` says how many.
   */
  deadLetters(): readonly DeadLetter[] {
    return this.#deadLetters.list()
  }

  /** Returns the entries of upstream servers that callers do not see, with the reasons. */
  hidden(): readonly HiddenEntry[] {
    const invalid = this.#registry.list().flatMap(({ name: server, upstream }) => {
      return upstream.invalidEntries.map(entry => ({ server, ...entry }))
    })
    return [...this.#currentCatalog().hidden, ...invalid]
  }

  /** Retries a waiting or quarantined server immediately; returns false if there is none of this name. */
  retry(name: string): boolean {
    const route = this.#registry.find(name)
    for (const instance of route?.upstream.instances ?? []) instance.retry()
    return route !== undefined
  }

  /** Approves a changed tool definition, so that callers can use the tool again. Throws as `Pins.approve` does. */
  approve(server: string, tool: string, digest: string): void {
    this.#pinChecker.approve(server, tool, digest)
  }

  /**
   * Imports a pin file as `pins.import` does, and exposes exactly the tools that match their pins now.
   * Tools whose pins were removed are pinned again as currently listed. Resolves with the pins that
   * changed; rejects, and imports nothing, if the file is invalid.
   */
  importPins(
    file: unknown,
    options: Pick<PinImportOptions, 'removed'> = {},
  ): Promise<readonly PinRecord[]> {
    return this.#pinChecker.import(file, options)
  }

  /** Calls the listener when servers are added, changed or removed. Returns a function that unsubscribes it. */
  onChange(listener: (change: RegistryChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Wraps a middleware around every request of callers; the first one added is outermost. */
  use(middleware: Middleware): this {
    this.#endpoints.use(middleware)
    return this
  }

  /** Serves a channel until it closes. */
  attach(channel: Channel, envelope?: Envelope): Attachment {
    return this.#endpoints.own.attach(channel, envelope)
  }

  /**
   * Returns the endpoint of a view, to be served at an address of its own: its callers see and call only the
   * servers and tools of the view. Throws a TypeError for an unknown name.
   */
  view(name: string): Endpoint {
    return this.#endpoints.view(name)
  }

  /** Closes all connections gracefully, those of callers first, and stops all processes. Never rejects. */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#parkedCalls.close()
    await this.#endpoints.close(options)
    await this.#registry.close({ drainMs: 0 })
    this.#deadlines.rest()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #make(name: string, options: UpstreamOptions): Route {
    const upstream: Upstream = new Upstream(name, options, {
      clock: this.#clock,
      deadlines: this.#deadlines,
      client: {
        ...this.#info,
        clock: this.#options.clock,
        // Connecting has its own timeout and must not fail because calls have a short one.
        timeoutMs: Math.max(
          connectTimeoutOf(options),
          options.timeoutMs ?? limitTable.callTimeoutMs.default,
        ),
        onError: error => this.#onError(error),
      },
      startWaitMs: this.#options.startWaitMs,
      startGate: this.#startGate,
      recall: (server, its) => this.#memory.recall(server, its),
      attributionTimeoutMs:
        this.#options.attributionTimeoutMs ?? limitTable.attributionTimeoutMs.default,
      subscribed: () => this.#watched.of(upstream),
      onInstance: (instance, event) => {
        const successor = this.#registry.find(name)?.instance(instance.key)
        publishInstanceEvent(name, instance, event, successor)
      },
      onDescribed: () => {
        this.#catalog = undefined
      },
      onLists: (_, kinds) => {
        // What pins block depends on the lists of all instances, also of those that callers do not see.
        const isPinned = upstream.options.tools?.pin === 'block'
        if (kinds.length > 0 || isPinned) this.#changed(kinds)
        this.#memory.remember(upstream)
      },
      onPersonalChange: (type, principal) =>
        this.#endpoints.publish({
          type,
          ...(principal !== undefined && { principal }),
        }),
      onTools: instance => void this.#pinChecker.check(upstream, instance),
      onListFailed: (instance, problem) => publishListFailed(name, instance, problem),
      onListRecovered: (instance, method) => publishListRecovered(name, instance, method),
      onSubscribed: uris => this.#watched.onSubscribed(uris),
      onUpdated: uri => this.#endpoints.publishUpdate(uri),
      onAuthorization: event => this.#onAuthorization(name, event),
      onNotification: (method, params) => {
        if (method !== 'notifications/elicitation/complete') return
        this.#endpoints.completeElicitation(params?.elicitationId)
      },
    })
    return new Route(upstream, this.#routeHost)
  }

  #currentCatalog(): Catalog {
    this.#catalog ??= mergedCatalog(this.#registry.list(), this.pins)
    return this.#catalog
  }

  #onChange(change: RegistryChange): void {
    this.#changed(listKinds)
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  /** Invalidates the catalog, which is rebuilt on next use, and notifies subscribed callers. */
  #changed(kinds: readonly ListKind[]): void {
    this.#catalog = undefined
    for (const type of kinds) this.#endpoints.publish({ type })
    // A watched resource may belong to another server now.
    if (kinds.includes('resources')) void this.#watched.update()
  }

  #onAuthorization(server: string, event: AuthorizationEvent): void {
    void this.#options.audit?.record({ ...event, server })
    // The client of the call may wait for this before it calls again.
    if (event.outcome === 'made') this.#endpoints.completeElicitation(event.elicitationId)
  }

  #onError(error: unknown): void {
    if (this.#options.onError !== undefined) this.#options.onError(error)
    else console.error('trunkline router:', error)
  }
}

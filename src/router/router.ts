import type { Channel, Envelope } from '../jsonrpc/channel.ts'
import type { Handler, Middleware } from '../jsonrpc/handler.ts'
import type { Attachment, Endpoint } from '../mcp/endpoint.ts'
import type { Profile } from '../mcp/profile.ts'
import type { Revision } from '../mcp/revisions/revisions.ts'
import type { Implementation, Members } from '../mcp/types/base.ts'
import { Front } from '../server/core/endpoint.ts'
import { limits as limitTable } from '../util/limits/limits.ts'
import { checkOptions } from '../util/options.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'
import { Deadlines, systemDeadlines } from '../util/time/deadline.ts'
import { Traffic } from '../util/traffic.ts'
import { version as ownVersion } from '../util/version.ts'
import { Catalogue } from './catalog/catalog.ts'
import type { HiddenEntry } from './catalog/entries.ts'
import type { ListKind } from './catalog/lists.ts'
import { Route, type RouteHost } from './dispatch/route.ts'
import { tellInstance } from './events.ts'
import type { Delivered } from './forward/call.ts'
import { writtenCalls } from './forward/hop.ts'
import { HeldCalls } from './forward/parked-calls.ts'
import { onlyReader, RoutedOffer } from './forward/proxied-features.ts'
import { routerTable } from './option-table.ts'
import type { RouterOptions, UpstreamOptions } from './options.ts'
import { Pinning } from './pins/check.ts'
import { type PinImport, Pins } from './pins/pins.ts'
import type { PinRecord } from './pins/records.ts'
import { Limits } from './policy/limit.ts'
import { Registry, type RegistryChange, type UnregisterOptions } from './registry.ts'
import { type Level, type ServerStatus, statusOf } from './status.ts'
import type { Instance } from './upstream/instance.ts'
import { openMsOf, Upstream } from './upstream/upstream.ts'

/**
 * Many servers behind one address. Callers see one server that has the tools, resources and prompts of
 * all, in every revision and over every transport; behind it are programs, addresses and servers of
 * this process, each with as many instances as it takes.
 *
 * A router begins to connect when it is made, and belongs to its maker, who closes it.
 */
export class Router implements Endpoint {
  /** Answers one self-contained message, without a connection. */
  readonly handle: Handler
  readonly profile: Profile
  readonly writtenCalls = writtenCalls
  /** How much has come from callers and gone to them, where it is served by `listen` or `serve`. */
  readonly traffic = new Traffic()
  /** That calls are told of by the router itself, on the channels of `trunkline/observe`. */
  readonly isObserved = true
  /** How the tools were defined when they were first seen. */
  readonly pins: Pins
  readonly #options: RouterOptions
  readonly #front: Front<RoutedOffer>
  readonly #registry: Registry
  readonly #pinning: Pinning
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #held: HeldCalls<Delivered>
  readonly #info: Implementation
  readonly #routeHost: RouteHost
  readonly #listeners = new Set<(change: RegistryChange) => void>()
  #catalogue: Catalogue | undefined
  #isFollowing = false
  #tried: Promise<void> | undefined

  /** Throws a TypeError for options that make no sense; then nothing has been started. */
  constructor(options: RouterOptions = {}) {
    checkOptions(options, routerTable)
    this.#options = options
    this.pins = options.pins ?? new Pins()
    this.#pinning = new Pinning(this.pins, {
      routes: () => this.#registry.list(),
      onPinned: pins => options.onPinned?.(pins),
      onChange: () => this.#changed(['tools']),
      onError: error => this.#onError(error),
    })
    const { name = 'trunkline', version = ownVersion, title, icons, instructions } = options
    this.#clock = options.clock ?? systemClock
    this.#deadlines = options.clock === undefined ? systemDeadlines : new Deadlines(options.clock)
    this.#held = new HeldCalls(this.#deadlines, options.heldMs)
    this.#info = { name, version, title }
    const now = () => this.#clock.now()
    const limits = new Limits({ router: options.limits, now })
    this.#routeHost = { clock: this.#clock, limits, out: options.out ?? [] }
    this.#front = new Front(
      { name, version, title, icons, instructions },
      host =>
        new RoutedOffer(host, {
          info: this.#info,
          held: this.#held,
          catalogue: () => this.#current(),
          routes: () => this.#registry.list(),
          whenTried: () => this.#tried,
          missing: () => this.#missing(),
        }),
      {
        pageSize: options.pageSize,
        keys: options.keys,
        tasks: options.tasks,
        onError: options.onError,
      },
    )
    this.#front.subscriptions.onWanted = () => this.#followSoon()
    this.handle = this.#front.handle
    this.profile = this.#front.profile
    this.#registry = new Registry({
      make: (server, its) => this.#make(server, its),
      onChange: change => this.#onChange(change),
    })
    this.#registry.registerAll(options.servers ?? {})
  }

  /** The revisions it serves, oldest first. */
  get revisions(): readonly Revision[] {
    return this.#front.revisions
  }

  /** Settles when every server has been tried once, whether it could be reached or not. */
  async ready(): Promise<void> {
    await Promise.all(this.#registry.list().map(({ upstream }) => upstream.tried))
  }

  /**
   * Adds a server behind the others. Throws a TypeError for a name that is taken or cannot be one, and a
   * ChannelError `'closed'` once the router is closed.
   */
  register(name: string, options: UpstreamOptions | Endpoint): void {
    this.#registry.register(name, options)
  }

  /** Takes a server away; false where there is none of the name. Settles when it has ended. */
  unregister(name: string, options?: UnregisterOptions): Promise<boolean> {
    return this.#registry.unregister(name, options)
  }

  /**
   * Makes these the servers, in this order; those that stay as they are go on as if nothing had
   * happened. Rejects, and changes nothing, where one of them makes no sense, and once the router is
   * closed. Of several updates each finds what the one before has left.
   */
  update(
    servers: NonNullable<RouterOptions['servers']>,
    options?: UnregisterOptions,
  ): Promise<void> {
    return this.#registry.update(servers, options)
  }

  /** How one server does; undefined where there is none of the name. */
  server(name: string): ServerStatus | undefined {
    const route = this.#registry.find(name)
    return route && statusOf(route)
  }

  /** How the servers do, in order. */
  servers(): readonly ServerStatus[] {
    return this.#registry.list().map(statusOf)
  }

  /** How well all of it works, for `/readyz`: down only where no server can be called. */
  health(): {
    readonly level: Level
    readonly reason?: string
    readonly servers: Iterable<readonly [string, ServerStatus]>
  } {
    const servers = this.servers()
    const ill = servers.filter(({ level }) => level !== 'ok')
    const isDown = servers.length > 0 && servers.every(({ level }) => level === 'down')
    const level = ill.length === 0 ? 'ok' : isDown ? 'down' : 'degraded'
    const reason = ill.map(({ name, reason: why }) => `${name}: ${why}`).join('; ')
    return {
      level,
      ...(reason !== '' && { reason }),
      servers: servers.map(server => [server.name, server] as const),
    }
  }

  /** How much has come from each server and gone to it; nothing where it is in this process. */
  *upstreamTraffic(): Generator<readonly [server: string, traffic: Traffic]> {
    for (const { name, upstream } of this.#registry.list()) yield [name, upstream.traffic]
  }

  /** The tools that callers see, in order: under which names, and whose they are. */
  tools(): readonly { readonly name: string; readonly server: string }[] {
    return this.#current().tools.map(({ shown, route }) => ({
      name: shown.name,
      server: route.name,
    }))
  }

  /** What servers offer and callers do not see, and why. */
  hidden(): readonly HiddenEntry[] {
    return this.#current().hidden
  }

  /** Tries a server again at once that waits or was put away; false where there is none of the name. */
  retry(name: string): boolean {
    const route = this.#registry.find(name)
    for (const instance of route?.upstream.instances ?? []) instance.retry()
    return route !== undefined
  }

  /** Lets callers have a tool again whose definition has changed. See `pins`. */
  approve(server: string, tool: string, digest: string): void {
    this.#pinning.approve(server, tool, digest)
  }

  /**
   * Takes over what somebody else has made of the pins, as `pins.import` does, and lets callers have the
   * tools that are as pinned now, and no others. Tools whose pins were removed are pinned anew, as they are
   * listed. Gives those whose pins are others; rejects, and takes nothing, where it is no file of pins.
   */
  importPins(
    file: unknown,
    options: Pick<PinImport, 'removed'> = {},
  ): Promise<readonly PinRecord[]> {
    return this.#pinning.import(file, options)
  }

  /** Told of servers that come and go, until the function that comes back is called. */
  onChange(listener: (change: RegistryChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Puts a middleware around everything that callers ask for; the first is outermost. */
  use(middleware: Middleware): this {
    this.#front.use(middleware)
    return this
  }

  /** Takes over a channel for as long as it lives. */
  attach(channel: Channel, envelope?: Envelope): Attachment {
    return this.#front.attach(channel, envelope)
  }

  /** Ends every connection in good order, those of callers first, and every program. Never rejects. */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#held.close()
    await this.#front.close(options)
    await this.#registry.close({ drainMs: 0 })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #make(name: string, options: UpstreamOptions): Route {
    const { name: own, version, title } = this.#info
    const upstream: Upstream = new Upstream(name, options, {
      clock: this.#clock,
      deadlines: this.#deadlines,
      client: {
        name: own,
        version,
        title,
        clock: this.#options.clock,
        // Opening has a time of its own, and is not to fail for the sake of quick calls.
        timeoutMs: Math.max(
          openMsOf(options),
          options.timeoutMs ?? limitTable.callTimeoutMs.default,
        ),
        onError: error => this.#onError(error),
      },
      doubtMs: this.#options.doubtMs ?? limitTable.doubtMs.default,
      wanted: () => this.#wantedOf(upstream),
      onInstance: (_, instance, event) => {
        const successor = this.#registry.find(name)?.instance(instance.key)
        tellInstance(name, instance, event, successor)
      },
      onLists: (_, instance, kinds) => this.#onLists(upstream, instance, kinds),
      onUpdated: (_, uri) => this.#front.subscriptions.announce({ type: 'resource', uri }),
      onNews: (_, method, params) => this.#onNews(method, params),
      onError: error => this.#onError(error),
    })
    return new Route(upstream, this.#routeHost)
  }

  /** Until a new server has been tried, lists and calls of what nobody knows wait for it, but not for long. */
  #await(server: string): void {
    const upstream = this.#registry.find(server)?.upstream
    if (upstream === undefined) return
    const waited = new Promise<void>(resolve => {
      const timer = this.#clock.start(resolve, limitTable.upstreamWaitMs.default)
      timer.unref()
      void upstream.tried.then(() => {
        this.#clock.stop(timer)
        resolve()
      })
    })
    const all = Promise.all([this.#tried, waited]).then(() => {
      if (this.#tried === all) this.#tried = undefined
    })
    this.#tried = all
  }

  #current(): Catalogue {
    this.#catalogue ??= new Catalogue(this.#registry.list(), this.pins)
    return this.#catalogue
  }

  #onLists(upstream: Upstream, instance: Instance, kinds: readonly ListKind[]): void {
    this.#changed(kinds)
    void this.#pinning.check(upstream, instance)
  }

  #onChange(change: RegistryChange): void {
    if (change.type === 'registered') this.#await(change.server)
    this.#changed(['tools', 'prompts', 'resources'])
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  /** What callers see may be something else now: the next one who looks makes the catalogue anew. */
  #changed(kinds: readonly ListKind[]): void {
    this.#catalogue = undefined
    for (const type of kinds) this.#front.subscriptions.announce({ type })
    // What somebody watches may be that of another server now.
    if (kinds.includes('resources')) this.#followSoon()
  }

  /** Has the servers tell of what is wanted of them: once, however much of it has changed together. */
  #followSoon(): void {
    if (this.#isFollowing) return
    this.#isFollowing = true
    queueMicrotask(() => {
      this.#isFollowing = false
      for (const { upstream } of this.#registry.list()) upstream.follow()
    })
  }

  /** The resources of one server that somebody wants to hear of. */
  #wantedOf(upstream: Upstream): readonly string[] {
    const wanted = [...this.#front.subscriptions.wanted()]
    if (wanted.length === 0) return wanted
    const catalogue = this.#current()
    const isOnly = onlyReader(this.#registry.list())?.upstream === upstream
    return wanted.filter(uri => {
      const owner = catalogue.ownerOf(uri)
      return owner === undefined ? isOnly : owner.upstream === upstream
    })
  }

  #onNews(method: string, params: Members | undefined): void {
    if (method !== 'notifications/elicitation/complete') return
    const id = params?.elicitationId
    if (typeof id === 'string') this.#front.elicited(id)
  }

  #missing(): Members | undefined {
    const missing = this.#registry
      .list()
      .flatMap(({ name, upstream }) =>
        upstream.excuse === undefined ? [] : [[name, upstream.excuse] as const],
      )
    return missing.length === 0 ? undefined : Object.fromEntries(missing)
  }

  #onError(error: unknown): void {
    if (this.#options.onError !== undefined) this.#options.onError(error)
    else console.error('trunkline router:', error)
  }
}

import { ChannelError } from '../jsonrpc/channel.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import { isRecord } from '../util/objects.ts'
import { checkOptions, formatValue } from '../util/options.ts'
import { checkPrefix, checkServerName } from './catalog/names.ts'
import { changeOf } from './config/diff.ts'
import type { Route } from './dispatch/route.ts'
import { instanceUrlTable, upstreamTable } from './option-table.ts'
import type { UpstreamOptions } from './options.ts'

/** A change of the registered servers or of their order. */
export type RegistryChange =
  | {
      /** Whether the server is new, has other settings, or is gone. */
      readonly type: 'registered' | 'adjusted' | 'unregistered'
      /** The name of the server. */
      readonly server: string
    }
  | { readonly type: 'order' }

/** What a {@link ServerRegistry} needs from the router. */
export interface ServerRegistryHost {
  /** Creates the route to a server without connecting. Throws for invalid options. */
  make(name: string, options: UpstreamOptions): Route
  onChange(change: RegistryChange): void
}

/** Options for removing servers. */
export interface UnregisterOptions {
  /** Time to wait for the calls in flight, in milliseconds. By default 0. */
  readonly drainMs?: number
}

/**
 * The upstream servers of a router, by name and in order. Servers can be added, removed and
 * reconfigured at any time; servers whose options stay the same are not interrupted.
 */
export class ServerRegistry {
  readonly #host: ServerRegistryHost
  #routes = new Map<string, Route>()
  /** Routes of a running update, which take over once their first connection attempt has finished. */
  readonly #starting = new Set<Route>()
  /** Routes that are being stopped. */
  readonly #stopping = new Set<Promise<void>>()
  /** Settles when no update is running. */
  #updated: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(host: ServerRegistryHost) {
    this.#host = host
  }

  /** Returns the routes in order. */
  list(): readonly Route[] {
    return [...this.#routes.values()]
  }

  /** Returns the route of a server; undefined if there is none of this name. */
  find(name: string): Route | undefined {
    return this.#routes.get(name)
  }

  /**
   * Adds a server after the others. Throws a TypeError for a name that is taken or invalid, and a
   * ChannelError `'closed'` after `close`.
   */
  register(name: string, given: UpstreamOptions | Endpoint): void {
    this.registerAll({ [name]: given })
  }

  /** Adds all servers that are not disabled, or none if one of them is invalid. Throws as `register` does. */
  registerAll(servers: Readonly<Record<string, UpstreamOptions | Endpoint>>): void {
    this.#checkOpen()
    const made = wantedOf(servers).map(([name, options]) => {
      if (this.#routes.has(name)) throw new TypeError(`a server "${name}" is already registered`)
      return this.#host.make(name, options)
    })
    for (const route of made) {
      route.upstream.start()
      route.rank = 1 + Math.max(-1, ...this.list().map(({ rank }) => rank))
      this.#routes.set(route.name, route)
      this.#host.onChange({ type: 'registered', server: route.name })
    }
  }

  /** Removes a server; resolves when it has stopped, with false if there is none of this name. */
  async unregister(name: string, { drainMs = 0 }: UnregisterOptions = {}): Promise<boolean> {
    const route = this.#routes.get(name)
    if (route === undefined) return false
    this.#routes.delete(name)
    this.#host.onChange({ type: 'unregistered', server: name })
    await this.#stop(route, drainMs)
    return true
  }

  /**
   * Replaces the servers, in this order. Servers with the same options are not touched. Servers whose
   * change needs no reconnect keep their connections. Every other server is started and takes over after
   * its first connection attempt; the one it replaces finishes its calls in flight. Settles when all of
   * this is done. Rejects, and changes nothing, if a server is invalid or after `close`.
   *
   * Updates run one after the other. Servers that are registered or unregistered during an update stay
   * registered or unregistered.
   */
  async update(
    servers: Readonly<Record<string, UpstreamOptions | Endpoint>>,
    { drainMs = 0 }: UnregisterOptions = {},
  ): Promise<void> {
    const replacing = this.#updated.then(() => this.#replace(servers))
    this.#updated = replacing.then(
      () => {},
      () => {},
    )
    const gone = await replacing
    await Promise.all(gone.map(route => this.#stop(route, drainMs)))
  }

  /** Stops all servers. Never rejects. */
  async close({ drainMs = 0 }: UnregisterOptions = {}): Promise<void> {
    this.#isClosed = true
    const routes = [...this.#routes.values(), ...this.#starting]
    this.#routes.clear()
    for (const route of routes) void this.#stop(route, drainMs)
    await Promise.all(this.#stopping)
  }

  /** Switches to the new servers and returns the routes that are no longer in use. */
  async #replace(
    servers: Readonly<Record<string, UpstreamOptions | Endpoint>>,
  ): Promise<readonly Route[]> {
    this.#checkOpen()
    const wanted = wantedOf(servers)
    const found = new Map(this.#routes)
    const { next, opened, adjusted } = this.#plan(wanted)
    for (const route of opened) {
      this.#starting.add(route)
      route.upstream.start()
    }
    // A replacement takes over once its first connection attempt has succeeded or failed.
    await Promise.all(opened.map(({ upstream }) => upstream.tried))
    for (const route of opened) this.#starting.delete(route)
    this.#checkOpen()
    const before = this.#routes
    for (const [name, route] of before) if (found.get(name) !== route) next.set(name, route)
    for (const name of found.keys()) if (!before.has(name)) next.delete(name)
    rank(next, before)
    this.#routes = next
    const present = new Set(next.values())
    for (const [route, options] of adjusted) {
      if (!present.has(route)) continue
      route.adjust(options)
      this.#host.onChange({ type: 'adjusted', server: route.name })
    }
    for (const route of opened) {
      if (present.has(route)) this.#host.onChange({ type: 'registered', server: route.name })
    }
    for (const name of before.keys()) {
      if (!next.has(name)) this.#host.onChange({ type: 'unregistered', server: name })
    }
    this.#host.onChange({ type: 'order' })
    return [...before.values(), ...opened].filter(route => !present.has(route))
  }

  /** Plans an update. Creates every route before any is started, so that invalid options throw here. */
  #plan(wanted: readonly (readonly [string, UpstreamOptions])[]): {
    readonly next: Map<string, Route>
    readonly opened: readonly Route[]
    readonly adjusted: readonly (readonly [Route, UpstreamOptions])[]
  } {
    const next = new Map<string, Route>()
    const opened: Route[] = []
    const adjusted: [Route, UpstreamOptions][] = []
    for (const [name, options] of wanted) {
      const known = this.#routes.get(name)
      const change = known === undefined ? 'changed' : changeOf(known.upstream.options, options)
      const made = change === 'unchanged' ? undefined : this.#host.make(name, options)
      if (made !== undefined && change === 'changed') opened.push(made)
      if (known !== undefined && change === 'adjusted') adjusted.push([known, options])
      const route = change === 'changed' ? made : known
      if (route !== undefined) next.set(name, route)
    }
    return { next, opened, adjusted }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new ChannelError('closed', 'the router is closed')
  }

  #stop({ upstream }: Route, drainMs: number): Promise<void> {
    const stopping = upstream.stop(drainMs).finally(() => this.#stopping.delete(stopping))
    this.#stopping.add(stopping)
    return stopping
  }
}

/**
 * Assigns ranks in the order of the servers. A server keeps its rank, or gets a higher one if servers
 * before it were added or removed: a client in the middle of a paginated list may then see an entry
 * twice but misses none.
 */
function rank(next: ReadonlyMap<string, Route>, before: ReadonlyMap<string, Route>): void {
  let last = -1
  for (const [name, route] of next) {
    last = Math.max(before.get(name)?.rank ?? 0, last + 1)
    route.rank = last
  }
}

/** Expands an endpoint of this process to `{ server }`. */
function optionsOf(given: UpstreamOptions | Endpoint): UpstreamOptions {
  if (!isRecord(given))
    throw new TypeError(
      `a server must be an object of options or an endpoint (got ${formatValue(given)})`,
    )
  return 'attach' in given && typeof given.attach === 'function' && 'handle' in given
    ? { server: given as unknown as Endpoint }
    : (given as UpstreamOptions)
}

/** Checks all servers and returns those that are not disabled. */
function wantedOf(
  servers: Readonly<Record<string, UpstreamOptions | Endpoint>>,
): readonly (readonly [name: string, options: UpstreamOptions])[] {
  const all = Object.entries(servers).map(([name, given]) => [name, optionsOf(given)] as const)
  for (const [name, options] of all) check(name, options)
  return all.filter(([, { disabled }]) => disabled !== true)
}

function check(name: string, options: UpstreamOptions): void {
  checkOptions(options, upstreamTable, `server "${name}": `)
  const { prefix, urls = [], command, pool } = options
  if (command !== undefined && pool !== undefined) {
    const what = '"pool" applies to addresses only; use "instances"'
    throw new TypeError(`server "${name}": ${what}`)
  }
  for (const entry of urls) {
    if (typeof entry !== 'string')
      checkOptions(entry, instanceUrlTable, `server "${name}", "urls": `)
  }
  const { balance, hash } = options
  if (balance === 'hash' && hash === undefined) {
    throw new TypeError(
      `server "${name}": balance "hash" requires hash: "principal", { header } or { argument }`,
    )
  }
  if (hash !== undefined && balance !== 'hash') {
    throw new TypeError(`server "${name}": hash has no effect unless balance is "hash"`)
  }
  const problem =
    checkServerName(name) ?? (typeof prefix === 'string' ? checkPrefix(prefix) : undefined)
  if (problem !== undefined) throw new TypeError(problem)
}

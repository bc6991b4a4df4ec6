import { ChannelError } from '../jsonrpc/channel.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import { checkOptions } from '../util/options.ts'
import { isRecord } from '../util/record.ts'
import { checkPrefix, checkServerName } from './catalog/names.ts'
import { changeOf } from './config/diff.ts'
import type { Route } from './dispatch/route.ts'
import { placeTable, upstreamTable } from './option-table.ts'
import type { UpstreamOptions } from './options.ts'

/** Something has changed in the registry. */
export type RegistryChange =
  | { readonly type: 'registered' | 'adjusted' | 'unregistered'; readonly server: string }
  | { readonly type: 'order' }

/** What the registry needs: how a server is reached, and whom to tell. */
export interface RegistryHost {
  /** Makes the way to a server, which is not connected to yet. Throws for options that make no sense. */
  make(name: string, options: UpstreamOptions): Route
  onChange(change: RegistryChange): void
}

/** How long calls under way are waited for when their server is taken away. */
export interface UnregisterOptions {
  readonly drainMs?: number
}

/**
 * The servers behind a router, by name and in order. What a server's options are may change at any
 * time: those that are left as they are go on as if nothing had happened.
 */
export class Registry {
  readonly #host: RegistryHost
  #routes = new Map<string, Route>()
  /** Those that are to take over as soon as they have been tried. */
  readonly #coming = new Set<Route>()
  /** Those that are being ended. */
  readonly #leaving = new Set<Promise<void>>()
  /** Settles when no update is under way. */
  #updated: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(host: RegistryHost) {
    this.#host = host
  }

  /** The servers, in order. */
  list(): readonly Route[] {
    return [...this.#routes.values()]
  }

  find(name: string): Route | undefined {
    return this.#routes.get(name)
  }

  /**
   * Adds a server behind the others. Throws a TypeError for a name that is taken or cannot be one, and a
   * ChannelError `'closed'` once this is closed.
   */
  register(name: string, given: UpstreamOptions | Endpoint): void {
    this.registerAll({ [name]: given })
  }

  /** Adds servers, but for those that are disabled; none, where one of them cannot be. Throws as `register`. */
  registerAll(servers: Readonly<Record<string, UpstreamOptions | Endpoint>>): void {
    this.#checkOpen()
    const made = wantedOf(servers).map(([name, options]) => {
      if (this.#routes.has(name)) throw new TypeError(`there is already a server "${name}"`)
      return this.#host.make(name, options)
    })
    for (const route of made) {
      route.upstream.start()
      route.rank = 1 + Math.max(-1, ...this.list().map(({ rank }) => rank))
      this.#routes.set(route.name, route)
      this.#host.onChange({ type: 'registered', server: route.name })
    }
  }

  /** Takes a server away; false where there is none of the name. Settles when it has ended. */
  async unregister(name: string, { drainMs = 0 }: UnregisterOptions = {}): Promise<boolean> {
    const route = this.#routes.get(name)
    if (route === undefined) return false
    this.#routes.delete(name)
    this.#host.onChange({ type: 'unregistered', server: name })
    await this.#end(route, drainMs)
    return true
  }

  /**
   * Makes these the servers, in this order. Those whose options are the same are not touched; of those
   * that differ only in what they are allowed the connections stay; those that have to be connected to
   * anew take over when they are there, and the calls under way of the others are waited for. Throws,
   * and changes nothing, where one of them makes no sense, and once this is closed. Settles when all is
   * done.
   *
   * Of several updates each finds what the one before has left. What is registered or unregistered while
   * one is under way stays so.
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
    await Promise.all(gone.map(route => this.#end(route, drainMs)))
  }

  /** Ends all of them. Never rejects. */
  async close({ drainMs = 0 }: UnregisterOptions = {}): Promise<void> {
    this.#isClosed = true
    const routes = [...this.#routes.values(), ...this.#coming]
    this.#routes.clear()
    for (const route of routes) void this.#end(route, drainMs)
    await Promise.all(this.#leaving)
  }

  /** Gives those that are no longer among the servers. */
  async #replace(
    servers: Readonly<Record<string, UpstreamOptions | Endpoint>>,
  ): Promise<readonly Route[]> {
    this.#checkOpen()
    const wanted = wantedOf(servers)
    const found = new Map(this.#routes)
    const { next, opened, adjusted } = this.#plan(wanted)
    for (const route of opened) {
      this.#coming.add(route)
      route.upstream.start()
    }
    // What replaces another takes over when it is there, or has turned out not to come.
    await Promise.all(opened.map(({ upstream }) => upstream.tried))
    for (const route of opened) this.#coming.delete(route)
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

  /** What is to be done. Everything is made before anything is begun: what makes no sense throws here. */
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
    if (this.#isClosed) throw new ChannelError('closed', 'the router has been closed')
  }

  #end({ upstream }: Route, drainMs: number): Promise<void> {
    const leaving = upstream.stop(drainMs).finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
    return leaving
  }
}

/**
 * Ranks servers in their order. One that was there before keeps its rank, or, behind others that have come
 * or gone before it, gets a higher one: whoever is in the middle of a list may be told of something twice,
 * and misses nothing.
 */
function rank(next: ReadonlyMap<string, Route>, before: ReadonlyMap<string, Route>): void {
  let last = -1
  for (const [name, route] of next) {
    last = Math.max(before.get(name)?.rank ?? 0, last + 1)
    route.rank = last
  }
}

/** A server of this process stands for the options that name it. */
function optionsOf(given: UpstreamOptions | Endpoint): UpstreamOptions {
  if (!isRecord(given)) throw new TypeError('a server is an object of options')
  return 'attach' in given && typeof given.attach === 'function' && 'handle' in given
    ? { server: given as unknown as Endpoint }
    : (given as UpstreamOptions)
}

/** The servers that are not disabled. All of them are checked. */
function wantedOf(
  servers: Readonly<Record<string, UpstreamOptions | Endpoint>>,
): readonly (readonly [name: string, options: UpstreamOptions])[] {
  const all = Object.entries(servers).map(([name, given]) => [name, optionsOf(given)] as const)
  for (const [name, options] of all) check(name, options)
  return all.filter(([, { disabled }]) => disabled !== true)
}

function check(name: string, options: UpstreamOptions): void {
  checkOptions(options, upstreamTable, `server "${name}": `)
  const { prefix, urls = [] } = options
  for (const place of urls) {
    if (typeof place !== 'string') checkOptions(place, placeTable, `server "${name}", "urls": `)
  }
  const problem =
    checkServerName(name) ?? (typeof prefix === 'string' ? checkPrefix(prefix) : undefined)
  if (problem !== undefined) throw new TypeError(problem)
}

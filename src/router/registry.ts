import type { Endpoint } from '../mcp/endpoint.ts'
import { isRecord } from '../util/record.ts'
import { changeOf } from './config-diff.ts'
import { checkPrefix, checkServerName } from './names.ts'
import type { UpstreamOptions } from './options.ts'
import type { Route } from './route.ts'

/** Something has changed in the registry. */
export type RegistryChange =
  | { readonly type: 'registered' | 'adjusted' | 'unregistered'; readonly server: string }
  | { readonly type: 'order' }

/** What the registry needs: how a server is reached, and whom to tell. */
export interface RegistryHost {
  /** Makes the way to a server, which begins to be connected to. Throws for options that make no sense. */
  open(name: string, options: UpstreamOptions): Route
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
  /** Those that are being ended. */
  readonly #leaving = new Set<Promise<void>>()

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

  /** Adds a server behind the others. Throws a TypeError for a name that is taken or cannot be one. */
  register(name: string, given: UpstreamOptions | Endpoint): Route {
    const options = optionsOf(given)
    check(name, options)
    if (this.#routes.has(name)) throw new TypeError(`there is already a server "${name}"`)
    const route = this.#host.open(name, options)
    this.#routes.set(name, route)
    this.#host.onChange({ type: 'registered', server: name })
    return route
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
   * and changes nothing, where one of them makes no sense. Settles when all is done.
   */
  async update(
    servers: Readonly<Record<string, UpstreamOptions | Endpoint>>,
    { drainMs = 0 }: UnregisterOptions = {},
  ): Promise<void> {
    const wanted = Object.entries(servers).map(([name, given]) => [name, optionsOf(given)] as const)
    for (const [name, options] of wanted) check(name, options)
    const next = new Map<string, Route>()
    const opened: Route[] = []
    const adjusted: [Route, UpstreamOptions][] = []
    try {
      for (const [name, options] of wanted) {
        if (options.disabled) continue
        const known = this.#routes.get(name)
        const change = known === undefined ? 'changed' : changeOf(known.upstream.options, options)
        if (known !== undefined && change !== 'changed') {
          next.set(name, known)
          if (change === 'adjusted') adjusted.push([known, options])
          continue
        }
        const route = this.#host.open(name, options)
        opened.push(route)
        next.set(name, route)
      }
    } catch (error) {
      await Promise.all(opened.map(route => this.#end(route, 0)))
      throw error
    }
    // What replaces another takes over when it is there, or has turned out not to come.
    await Promise.all(opened.map(({ upstream }) => upstream.tried))
    const before = this.#routes
    this.#routes = next
    for (const [route, options] of adjusted) {
      route.adjust(options)
      this.#host.onChange({ type: 'adjusted', server: route.name })
    }
    for (const { name } of opened) this.#host.onChange({ type: 'registered', server: name })
    const gone = [...before].filter(([name, route]) => next.get(name) !== route)
    for (const [name] of gone) {
      if (!next.has(name)) this.#host.onChange({ type: 'unregistered', server: name })
    }
    this.#host.onChange({ type: 'order' })
    await Promise.all(gone.map(([, route]) => this.#end(route, drainMs)))
  }

  /** Ends all of them. Never rejects. */
  async close({ drainMs = 0 }: UnregisterOptions = {}): Promise<void> {
    const routes = this.list()
    this.#routes.clear()
    for (const route of routes) void this.#end(route, drainMs)
    await Promise.all(this.#leaving)
  }

  #end({ upstream }: Route, drainMs: number): Promise<void> {
    const leaving = upstream.stop(drainMs).finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
    return leaving
  }
}

/** A server of this process stands for the options that name it. */
export function optionsOf(given: UpstreamOptions | Endpoint): UpstreamOptions {
  if (!isRecord(given)) throw new TypeError('a server is an object of options')
  return 'attach' in given && typeof given.attach === 'function' && 'handle' in given
    ? { server: given as unknown as Endpoint }
    : (given as UpstreamOptions)
}

function check(name: string, { prefix }: UpstreamOptions): void {
  const problem =
    checkServerName(name) ?? (typeof prefix === 'string' ? checkPrefix(prefix) : undefined)
  if (problem !== undefined) throw new TypeError(problem)
}

import type { Backplane } from '../backplane/backplane.ts'
import type { HttpHandler } from '../http/exchange.ts'
import type { HttpListenerOptions } from '../http/server/options.ts'
import { HttpService } from '../http/server/service.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import { hostAddress, processName } from '../transport/this-host.ts'
import { limits } from '../util/limits/limits.ts'
import { systemClock } from '../util/time/clock.ts'
import { type ClusterNode, startNode } from './node.ts'
import { type ClusterOptions, nodeSettings } from './options.ts'

/** How a listener joins a cluster. */
export interface ClusterMembership {
  readonly backplane: Backplane
  readonly options: ClusterOptions
}

/**
 * Serves an endpoint as a node of a cluster: it joins when it is created and leaves when it is closed. Rejects with a
 * TypeError for invalid options, and with the error of the backplane if that cannot be reached.
 */
export async function clusteredService(
  endpoint: Endpoint,
  http: HttpListenerOptions & { readonly path: string },
  { backplane, options }: ClusterMembership,
): Promise<HttpHandler> {
  const settings = nodeSettings(backplane, options, { name: processName(), host: hostAddress() })
  const { sessions = {} } = http
  const idleMs = sessions.idleMs ?? limits.sessionIdleMs.default
  const node = await startNode(settings, { path: http.path, idleMs })
  const service = new HttpService(endpoint, {
    ...http,
    remote: node,
    sessions: {
      ...sessions,
      makeId: () => node.newSessionId(sessions.makeId),
      store: node.sessions,
    },
  })
  await node.serveWith(service, endpoint)
  return new ClusteredHandler(service, node)
}

/** A service that leaves its cluster when it is closed. */
class ClusteredHandler implements HttpHandler {
  readonly #service: HttpService
  readonly #node: ClusterNode

  constructor(service: HttpService, node: ClusterNode) {
    this.#service = service
    this.#node = node
  }

  readonly handle: HttpHandler['handle'] = (request, reply) => this.#service.handle(request, reply)

  async drain(options?: { readonly drainMs?: number }): Promise<void> {
    const { drainMs = limits.drainMs.default } = options ?? {}
    const until = systemClock.now() + drainMs
    await this.#node.drain(drainMs)
    await this.#service.drain({ drainMs: Math.max(0, until - systemClock.now()) })
  }

  async close(options?: { readonly drainMs?: number }): Promise<void> {
    await this.#service.close(options)
    await this.#node.close()
  }
}

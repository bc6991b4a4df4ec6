import { type OriginPolicy, originRefusal, type RequestOrigin } from '../../util/origin.ts'
import { redactText } from '../log/redact.ts'
import { prometheusType } from '../metrics/prometheus.ts'

/** The health of the process or of a server. */
export type HealthLevel = 'ok' | 'degraded' | 'down'

/** The health of a server, the reason, and when it is checked again. */
export interface HealthState {
  /** Whether it works, works in part, or is down. */
  readonly level: HealthLevel
  /** One line for people. */
  readonly reason?: string
  /** Milliseconds until the next automatic retry. */
  readonly retryInMs?: number
  /** What an operator can do about it: `log in`, `restart`. */
  readonly action?: string
  /** What is at the root of the latest failure, such as `HTTP 401`; undefined once a call succeeded. */
  readonly lastFailure?: string
}

/** The health of a node of this process. */
export interface ClusterNodeHealth extends HealthState {
  /** The name of the node. */
  readonly name: string
  /** The path at which it serves sessions. */
  readonly path: string
  /** The number of nodes that serve this path, this one included. */
  readonly nodes: number
  /** The number of sessions that it owns. */
  readonly sessions: number
}

/** The overall health, and that of each server by name. */
export interface HealthReport extends HealthState {
  /** Calls that were refused or could not be delivered, since the start. */
  readonly undelivered?: number
  /** The health of each server, by name. */
  readonly servers?: Iterable<readonly [name: string, state: HealthState]>
  /** The health of the nodes of this process in their cluster. */
  readonly cluster?: readonly ClusterNodeHealth[]
}

/** What `Ops` needs of an HTTP request. The HTTP requests of this package implement it. */
export interface OpsRequest {
  /** The HTTP method, such as `GET`. */
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  /** Returns what the request says about where it comes from, for the check of hosts and origins. */
  origin(): RequestOrigin
  /** Returns the port that the request arrived at, and whether that is a loopback address. */
  local(): Pick<OriginPolicy, 'port' | 'loopback'>
}

/** What `Ops` needs of an HTTP response. */
export interface OpsReply {
  /** Sends the whole response. */
  send(status: number, headers: Readonly<Record<string, string>>, body?: string): void
}

/** Handles HTTP requests. */
export interface RequestHandler<Request, Reply> {
  /** Handles one request, and sends the response through `reply`. */
  handle(request: Request, reply: Reply): void
  /** Waits up to `drainMs` milliseconds for the requests in flight, and ends the rest. */
  drain(options?: { readonly drainMs?: number }): Promise<void>
  /** Drains, and refuses every later request. */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/** Options of `Ops`. */
export interface OpsOptions extends Pick<OriginPolicy, 'allowedHosts' | 'allowedOrigins'> {
  /** Returns the health for `/readyz`; without it, the process is always ready. */
  readonly health?: () => HealthReport
  /** Returns the Prometheus text for `/metrics`; without it, the path returns 404. */
  readonly metrics?: () => string | Promise<string>
  /** Called with errors of `health` and `metrics`, which the response does not reveal. */
  readonly onError?: (error: unknown) => void
}

/** A handler with health, which a listener announces to be closing before it closes. */
export interface RetiringHandler<Request, Reply> extends RequestHandler<Request, Reply> {
  /** Makes `/readyz` return 503 from now on, so that load balancers send no more work. */
  retire(): void
}

/**
 * Handles `/healthz` (the process is alive), `/readyz` (it accepts work; 503 if not) and `/metrics`. It can
 * be used wherever this package accepts an HTTP handler: on a separate address or, with `withOps`, on that
 * of a server.
 *
 * Requests from other origins are refused as servers do. There is no authentication: the responses contain
 * neither arguments nor results, but can be read by every client that reaches the address.
 */
export class Ops {
  readonly #options: OpsOptions
  #isClosing = false

  constructor(options: OpsOptions = {}) {
    this.#options = options
  }

  /** Whether the path of a request is one of the three. */
  handles({ path }: Pick<OpsRequest, 'path'>): boolean {
    return path === '/healthz' || path === '/readyz' || path === '/metrics'
  }

  /** Handles one request. With `isRetired`, `/readyz` returns 503. Never throws. */
  handle(request: OpsRequest, reply: OpsReply, isRetired = false): void {
    const { allowedHosts, allowedOrigins } = this.#options
    const isHead = request.method === 'HEAD'
    const send = (status: number, type: string, body: string, more = {}) => {
      const headers = { 'content-type': type, ...ownHeaders, ...more }
      reply.send(status, headers, isHead ? undefined : body)
    }
    const gate = { ...request.local(), allowedHosts, allowedOrigins }
    const foreign = originRefusal(request.origin(), gate)
    try {
      if (foreign !== undefined) send(403, json, problem(foreign))
      else if (!this.handles(request)) send(404, json, problem('Not found'))
      else if (!isHead && request.method !== 'GET') {
        send(405, json, problem('Method not allowed'), { allow: 'GET, HEAD' })
      } else this.#answer(request.path, isRetired || this.#isClosing, send)
    } catch (error) {
      this.#fail(error, send)
    }
  }

  /** Makes `/readyz` return 503 from now on, so that load balancers send no more work. */
  async close(): Promise<void> {
    this.#isClosing = true
  }

  #sendMetrics(text: string | Promise<string>, send: Send): void {
    if (typeof text === 'string') {
      send(200, prometheusType, text)
      return
    }
    text.then(
      found => send(200, prometheusType, found),
      error => this.#fail(error, send),
    )
  }

  #fail(error: unknown, send: Send): void {
    this.#options.onError?.(error)
    send(500, json, problem('Internal error'))
  }

  #answer(path: string, isClosing: boolean, send: Send): void {
    const { health, metrics } = this.#options
    if (path === '/metrics') {
      if (metrics === undefined) send(404, json, problem('Metrics are off'))
      else this.#sendMetrics(metrics(), send)
    } else if (path === '/healthz') {
      send(200, json, '{"status":"alive"}\n')
    } else {
      const found: HealthReport = isClosing
        ? { level: 'down', reason: 'closing' }
        : (health?.() ?? { level: 'ok' })
      const isReady = found.level !== 'down'
      send(isReady ? 200 : 503, json, `${JSON.stringify(shown(found, isReady))}\n`)
    }
  }
}

/** Sends a response. */
type Send = (status: number, type: string, body: string) => void

/**
 * Combines two handlers: requests for the paths of `ops` go to `ops`, all others to `main`. Once the
 * combined handler is retired, `/readyz` returns 503 on it. `ops` itself stays open: other addresses may
 * serve it too.
 */
export function withOps<Request extends OpsRequest, Reply extends OpsReply>(
  main: RequestHandler<Request, Reply>,
  ops: Ops,
): RetiringHandler<Request, Reply> {
  let isRetired = false
  const retire = (): void => {
    isRetired = true
  }
  return {
    handle: (request, reply) => {
      if (ops.handles(request)) ops.handle(request, reply, isRetired)
      else main.handle(request, reply)
    },
    retire,
    drain: options => {
      retire()
      return main.drain(options)
    },
    close: options => {
      retire()
      return main.close(options)
    },
  }
}

const json = 'application/json'
const ownHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

function problem(why: string): string {
  return `${JSON.stringify({ error: why })}\n`
}

/** Copies member by member, so that the response contains no unintended members. */
function shown(health: HealthReport, isReady: boolean): object {
  const servers = Array.from(health.servers ?? [], ([name, state]) => ({
    name,
    ...stateOf(state),
  }))
  const cluster = health.cluster?.map(({ name, path, nodes, sessions, ...state }) => ({
    ...{ name, path, nodes, sessions },
    ...stateOf(state),
  }))
  const { undelivered } = health
  const status = isReady ? 'ready' : 'not ready'
  return { status, ...stateOf(health), undelivered, servers, cluster }
}

function stateOf({ level, reason, retryInMs, action, lastFailure }: HealthState): object {
  return {
    level,
    reason: reason === undefined ? undefined : redactText(reason),
    retryInMs: retryInMs === undefined ? undefined : Math.max(0, Math.round(retryInMs)),
    action: action === undefined ? undefined : redactText(action),
    lastFailure: lastFailure === undefined ? undefined : redactText(lastFailure),
  }
}

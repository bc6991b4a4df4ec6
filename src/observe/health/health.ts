import { type OriginPolicy, originRefusal, type RequestOrigin } from '../../util/origin.ts'
import { redactText } from '../log/redact.ts'
import { prometheusType } from '../metrics/prometheus.ts'

/** The health of the process or of a server. */
export type HealthLevel = 'ok' | 'degraded' | 'down'

/** The health of a server, the reason, and when it is checked again. */
export interface HealthState {
  readonly level: HealthLevel
  /** One line for people. */
  readonly reason?: string
  /** Milliseconds until the next automatic retry. */
  readonly retryInMs?: number
  /** What an operator can do about it: `log in`, `restart`. */
  readonly action?: string
}

/** The overall health, and that of each server by name. */
export interface HealthReport extends HealthState {
  readonly servers?: Iterable<readonly [name: string, state: HealthState]>
}

/** What `Ops` needs of an HTTP request. The HTTP requests of this package implement it. */
export interface OpsRequest {
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  origin(): RequestOrigin
  local(): Pick<OriginPolicy, 'port' | 'loopback'>
}

/** What `Ops` needs of an HTTP response. */
export interface OpsReply {
  send(status: number, headers: Readonly<Record<string, string>>, body?: string): void
}

/** Handles HTTP requests. */
export interface RequestHandler<Request, Reply> {
  handle(request: Request, reply: Reply): void
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/** Options of `Ops`. */
export interface OpsOptions extends Pick<OriginPolicy, 'allowedHosts' | 'allowedOrigins'> {
  /** Returns the health for `/readyz`; without it, the process is always ready. */
  readonly health?: () => HealthReport
  /** Returns the Prometheus text for `/metrics`; without it, the path returns 404. */
  readonly metrics?: () => string
  /** Called with errors of `health` and `metrics`, which the response does not reveal. */
  readonly onError?: (error: unknown) => void
}

/**
 * Handles `/healthz` (the process is alive), `/readyz` (it accepts work; 503 if not) and `/metrics`. It can
 * be used wherever this package accepts an HTTP handler: on a separate address or, with `withOps`, on that
 * of a server.
 *
 * Requests from other origins are refused as servers do. There is no authentication: the responses contain
 * neither arguments nor results, but can be read by every client that reaches the address.
 */
export class Ops implements RequestHandler<OpsRequest, OpsReply> {
  readonly #options: OpsOptions
  #isClosing = false

  constructor(options: OpsOptions = {}) {
    this.#options = options
  }

  /** Whether the path of a request is one of the three. */
  handles({ path }: Pick<OpsRequest, 'path'>): boolean {
    return path === '/healthz' || path === '/readyz' || path === '/metrics'
  }

  /** Handles one request. Never throws. */
  handle(request: OpsRequest, reply: OpsReply): void {
    const { allowedHosts, allowedOrigins, onError } = this.#options
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
      } else this.#answer(request.path, send)
    } catch (error) {
      onError?.(error)
      send(500, json, problem('Internal error'))
    }
  }

  /** Makes `/readyz` return 503 from now on, so that load balancers send no more work. */
  async close(): Promise<void> {
    this.#isClosing = true
  }

  #answer(path: string, send: (status: number, type: string, body: string) => void): void {
    const { health, metrics } = this.#options
    if (path === '/metrics') {
      if (metrics === undefined) send(404, json, problem('Metrics are off'))
      else send(200, prometheusType, metrics())
    } else if (path === '/healthz') {
      send(200, json, '{"status":"alive"}\n')
    } else {
      const found: HealthReport = this.#isClosing
        ? { level: 'down', reason: 'closing' }
        : (health?.() ?? { level: 'ok' })
      const isReady = found.level !== 'down'
      send(isReady ? 200 : 503, json, `${JSON.stringify(shown(found, isReady))}\n`)
    }
  }
}

/**
 * Combines two handlers: requests for the paths of `ops` go to `ops`, all others to `main`. Closing the
 * combined handler closes `ops` first, so that `/readyz` returns 503 while `main` is closing.
 */
export function withOps<Request extends OpsRequest, Reply extends OpsReply>(
  main: RequestHandler<Request, Reply>,
  ops: Ops,
): RequestHandler<Request, Reply> {
  return {
    handle: (request, reply) => {
      if (ops.handles(request)) ops.handle(request, reply)
      else main.handle(request, reply)
    },
    close: async options => {
      await ops.close()
      await main.close(options)
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
  return { status: isReady ? 'ready' : 'not ready', ...stateOf(health), servers }
}

function stateOf({ level, reason, retryInMs, action }: HealthState): object {
  return {
    level,
    reason: reason === undefined ? undefined : redactText(reason),
    retryInMs: retryInMs === undefined ? undefined : Math.max(0, Math.round(retryInMs)),
    action: action === undefined ? undefined : redactText(action),
  }
}

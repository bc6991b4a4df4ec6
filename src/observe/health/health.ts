import { type Asked, type Gate, originRefusal } from '../../util/origin.ts'
import { redactText } from '../log/redact.ts'
import { prometheusType } from '../metrics/prometheus.ts'

/** How well something works. */
export type HealthLevel = 'ok' | 'degraded' | 'down'

/** How well a server works, why not better, and when that is looked at again. */
export interface HealthState {
  readonly level: HealthLevel
  /** One line for people. */
  readonly reason?: string
  /** When it is tried again by itself, from now. */
  readonly retryInMs?: number
  /** What somebody can do about it: `log in`, `restart`. */
  readonly action?: string
}

/** How well everything works, and each server by its name. */
export interface HealthReport extends HealthState {
  readonly servers?: Iterable<readonly [name: string, state: HealthState]>
}

/** What the handler needs of a request over HTTP: each that this package hands over has it. */
export interface OpsRequest {
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  asked(): Asked
  local(): Pick<Gate, 'port' | 'loopback'>
}

/** The way back to whoever asked. */
export interface OpsReply {
  send(status: number, headers: Readonly<Record<string, string>>, body?: string): void
}

/** Answers requests over HTTP. */
export interface Answering<Request, Reply> {
  handle(request: Request, reply: Reply): void
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/** What is shown under `/healthz`, `/readyz` and `/metrics`. */
export interface OpsOptions extends Pick<Gate, 'allowedHosts' | 'allowedOrigins'> {
  /** How well things work; without it everything is well for as long as the process lives. */
  readonly health?: () => HealthReport
  /** The text of the metrics; without it there is no `/metrics`. */
  readonly metrics?: () => string
  /** Told what went wrong while answering, which whoever asked is not told. */
  readonly onError?: (error: unknown) => void
}

/**
 * Answers `/healthz` (the process lives), `/readyz` (it can be given work; 503 while it cannot) and
 * `/metrics`. It fits wherever this package takes a handler of HTTP, on an address of its own or, by
 * `beside`, on that of a server.
 *
 * Pages of other sites are refused as they are by servers. Nobody is asked who they are: what it says
 * is fit for whoever can reach the address, and holds neither arguments nor results.
 */
export class Ops implements Answering<OpsRequest, OpsReply> {
  readonly #options: OpsOptions
  #isClosing = false

  constructor(options: OpsOptions = {}) {
    this.#options = options
  }

  /** Whether a request is for one of its paths. */
  handles({ path }: Pick<OpsRequest, 'path'>): boolean {
    return path === '/healthz' || path === '/readyz' || path === '/metrics'
  }

  /** Answers one request. Never throws. */
  handle(request: OpsRequest, reply: OpsReply): void {
    const { allowedHosts, allowedOrigins, onError } = this.#options
    const isHead = request.method === 'HEAD'
    const send = (status: number, type: string, body: string, more = {}) => {
      const headers = { 'content-type': type, ...ownHeaders, ...more }
      reply.send(status, headers, isHead ? undefined : body)
    }
    const gate = { ...request.local(), allowedHosts, allowedOrigins }
    const foreign = originRefusal(request.asked(), gate)
    try {
      if (foreign !== undefined) send(403, json, problem(foreign))
      else if (!this.handles(request)) send(404, json, problem('There is nothing at this path'))
      else if (!isHead && request.method !== 'GET') {
        send(405, json, problem('Method not allowed'), { allow: 'GET, HEAD' })
      } else this.#answer(request.path, send)
    } catch (error) {
      onError?.(error)
      send(500, json, problem('Internal error'))
    }
  }

  /** Says from now on that it is not ready, so that no more work is sent here. */
  async close(): Promise<void> {
    this.#isClosing = true
  }

  #answer(path: string, send: (status: number, type: string, body: string) => void): void {
    const { health, metrics } = this.#options
    if (path === '/metrics') {
      if (metrics === undefined) send(404, json, problem('Metrics are not switched on'))
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
 * One handler of two: requests for the paths of `ops` go there, all others to `main`. Closing it closes
 * `ops` first, which says from then on that it is not ready.
 */
export function beside<Request extends OpsRequest, Reply extends OpsReply>(
  main: Answering<Request, Reply>,
  ops: Ops,
): Answering<Request, Reply> {
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

/** Member by member, so that nothing is shown that is not meant to be. */
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

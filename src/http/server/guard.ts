import { revisionOf } from '../../mcp/revisions/revisions.ts'
import { type OriginPolicy, originRefusal } from '../../util/origin.ts'
import type { HttpRequest } from '../exchange.ts'

/** Why a request is rejected. */
export interface Problem {
  readonly status: number
  readonly why: string
}

/**
 * Checks the origin of a request, before anything else of the request is read.
 *
 * A guard belongs to one service. It remembers the `Host` and the local address of the last accepted
 * request, because a client that is not a browser sends the same with every request; everything else is
 * checked each time.
 */
export class OriginGuard {
  readonly #allowed: Pick<OriginPolicy, 'allowedHosts' | 'allowedOrigins'>
  #host: string | undefined
  #port = 0
  #isLoopback = false

  constructor({
    allowedHosts,
    allowedOrigins,
  }: Pick<OriginPolicy, 'allowedHosts' | 'allowedOrigins'>) {
    this.#allowed = { allowedHosts, allowedOrigins }
  }

  /** Returns why the request must be rejected; undefined when it is accepted. */
  problem(request: HttpRequest): Problem | undefined {
    const origin = request.origin()
    const { port, loopback } = request.local()
    const isPlain =
      origin.hosts.length === 1 &&
      origin.origins.length === 0 &&
      origin.site === undefined &&
      origin.target.startsWith('/')
    const [host] = origin.hosts
    const isKnown = host === this.#host && port === this.#port && loopback === this.#isLoopback
    if (isPlain && isKnown) return undefined
    const why = originRefusal(origin, { port, loopback, ...this.#allowed })
    if (why !== undefined) return { status: 403, why }
    this.#host = host
    this.#port = port
    this.#isLoopback = loopback
    return undefined
  }
}

/** Checks that the body of a POST is uncompressed JSON. */
export function bodyGuard(request: HttpRequest): Problem | undefined {
  const encoding = request.header('content-encoding')
  // A small body can decompress to a huge one (zip bomb).
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return { status: 415, why: 'compressed bodies are not supported' }
  }
  const type = request.header('content-type')
  return type !== undefined && (type === 'application/json' || jsonType.test(type))
    ? undefined
    : { status: 415, why: 'the Content-Type must be application/json' }
}

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i

/**
 * Returns what is wrong with the protocol version of a request in a session; undefined when it is
 * valid.
 */
export function versionProblem(request: HttpRequest): string | undefined {
  const version = request.header('mcp-protocol-version')?.trim()
  if (version === undefined || revisionOf('session', version) !== undefined) return undefined
  return `Bad request: unsupported protocol version ${version}`
}

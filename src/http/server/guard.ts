import { type Gate, originRefusal } from '../../util/origin.ts'
import type { HttpRequest } from '../exchange.ts'

/** Why a request is not looked at any further. */
export interface Problem {
  readonly status: number
  readonly why: string
}

/**
 * Whether a request may come in at all, by where it comes from: nothing else of it has been looked at.
 *
 * A guard belongs to one service. It remembers how it was last reached rightly, since a client that is no
 * page says the same with every request; whatever else a request says is looked at each time.
 */
export class OriginGuard {
  readonly #allowed: Pick<Gate, 'allowedHosts' | 'allowedOrigins'>
  #host: string | undefined
  #port = 0
  #isLoopback = false

  constructor({ allowedHosts, allowedOrigins }: Pick<Gate, 'allowedHosts' | 'allowedOrigins'>) {
    this.#allowed = { allowedHosts, allowedOrigins }
  }

  /** Why the request must not come in; undefined when it may. */
  problem(request: HttpRequest): Problem | undefined {
    const asked = request.asked()
    const { port, loopback } = request.local()
    const isPlain =
      asked.hosts.length === 1 &&
      asked.origins.length === 0 &&
      asked.site === undefined &&
      asked.target.startsWith('/')
    const [host] = asked.hosts
    const isKnown = host === this.#host && port === this.#port && loopback === this.#isLoopback
    if (isPlain && isKnown) return undefined
    const why = originRefusal(asked, { port, loopback, ...this.#allowed })
    if (why !== undefined) return { status: 403, why }
    this.#host = host
    this.#port = port
    this.#isLoopback = loopback
    return undefined
  }
}

/** Whether the body of a POST can be read: JSON, as it is. */
export function bodyGuard(request: HttpRequest): Problem | undefined {
  const encoding = request.header('content-encoding')
  // A small body that unpacks to a large one is the oldest trick.
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return { status: 415, why: 'a compressed body is not taken' }
  }
  const type = request.header('content-type')
  return type !== undefined && (type === 'application/json' || jsonType.test(type))
    ? undefined
    : { status: 415, why: 'the Content-Type must be application/json' }
}

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i

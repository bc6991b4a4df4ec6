import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { HttpRequest } from '../../http/exchange.ts'
import { bodyGuard } from '../../http/server/guard.ts'
import { limits } from '../../util/limits/limits.ts'
import { originRefusal } from '../../util/origin.ts'
import type { ConsoleActions } from '../wire.ts'
import { ApiError, type RouteAccess } from './api.ts'

/** What the gate needs to know. */
export interface GateOptions {
  readonly actions: ConsoleActions
  /** Called when wrong keys are refused without a look at them. */
  readonly onAttack: () => void
  readonly now: () => number
}

/** Decides which requests get through to the routes. Every request passes it, whatever its route. */
export class Gate {
  readonly #options: GateOptions
  #key = ''
  #digest: Buffer = Buffer.alloc(0)
  #wrong = 0
  #wrongSince = 0

  constructor(options: GateOptions) {
    this.#options = options
    this.renew()
  }

  /** The key that a viewer needs. */
  get key(): string {
    return this.#key
  }

  /** Replaces the key: from now on the old one is wrong. */
  renew(): void {
    this.#key = randomBytes(24).toString('base64url')
    this.#digest = digestOf(this.#key)
  }

  /**
   * Throws an ApiError for a request that comes from elsewhere than this machine, or that a page of another
   * origin may have made. It is called before anything else of the request is looked at.
   */
  checkOrigin(request: HttpRequest): void {
    const local = request.local()
    if (!local.loopback) {
      throw new ApiError(
        403,
        'not_local',
        'the console is served at addresses of this machine only; use a tunnel: ssh -L',
      )
    }
    const origin = request.origin()
    const why = originRefusal(origin, local)
    if (why !== undefined) throw new ApiError(403, 'foreign_origin', why)
    // Pages of other ports of this machine are of the same site, and of another origin.
    if (origin.site !== undefined && origin.site !== 'same-origin' && origin.site !== 'none') {
      throw new ApiError(403, 'foreign_origin', 'requests of other origins are refused')
    }
  }

  /** Throws an ApiError if the request may not use a route with this access. */
  checkAccess(request: HttpRequest, access: RouteAccess): void {
    if (access === 'open') return
    this.#checkKey(request.header('authorization'))
    if (request.method === 'POST') {
      const problem = bodyGuard(request)
      if (problem !== undefined) throw new ApiError(problem.status, 'bad_type', problem.why)
    }
    if (access === 'changes' && this.#options.actions === 'look') {
      throw new ApiError(403, 'read_only', 'this console is read-only')
    }
  }

  #checkKey(given: string | undefined): void {
    const [, key] = /^Bearer ([\w-]{1,256})$/i.exec(given ?? '') ?? []
    // Digests have one length, so that the comparison takes the same time for every key.
    if (key !== undefined && timingSafeEqual(digestOf(key), this.#digest)) return
    const now = this.#options.now()
    if (now - this.#wrongSince >= minuteMs) {
      this.#wrongSince = now
      this.#wrong = 0
    }
    this.#wrong++
    const most = limits.consoleWrongKeys.default
    if (this.#wrong === most + 1) this.#options.onAttack()
    if (this.#wrong > most) {
      throw new ApiError(429, 'too_many_keys', 'too many wrong keys; wait a minute')
    }
    const message = 'the key is missing or wrong; open the link that "trunkline up" printed'
    throw new ApiError(401, 'wrong_key', message)
  }
}

const minuteMs = 60_000

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** The headers of every response of the console. */
export const safetyHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    'media-src blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
}

import type { PathHandler } from '../../http/beside.ts'
import type { HttpReply, HttpRequest } from '../../http/exchange.ts'
import { limits } from '../../util/limits/limits.ts'
import { ApiError, type ApiRequest, type ConsoleRoute, type TextAnswer } from './api.ts'
import { type Gate, safetyHeaders } from './gate.ts'

/** The path below which everything of the console is. */
export const consoleBase = '/console'

/** What the handler of requests needs. */
export interface ApiHandlerOptions {
  readonly gate: Gate
  readonly routes: readonly ConsoleRoute[]
  /** Called with errors that a response does not reveal. */
  readonly onError: (error: unknown) => void
}

/**
 * Serves the routes of the console. The gate stands before all of them: a handler gets a request only after it was
 * checked as the row of its route says, so that no handler can forget a check.
 */
export class ApiHandler implements PathHandler {
  readonly #options: ApiHandlerOptions
  readonly #routes: readonly CompiledRoute[]

  constructor(options: ApiHandlerOptions) {
    this.#options = options
    this.#routes = options.routes.map(route => ({ route, parts: route.path.split('/') }))
  }

  handles({ path }: Pick<HttpRequest, 'path'>): boolean {
    return path === consoleBase || path.startsWith(`${consoleBase}/`)
  }

  handle(request: HttpRequest, reply: HttpReply): void {
    this.#serve(request, reply).catch((error: unknown) => this.#fail(reply, error))
  }

  async #serve(request: HttpRequest, reply: HttpReply): Promise<void> {
    const { gate } = this.#options
    gate.checkOrigin(request)
    if (request.path === consoleBase) {
      reply.send(308, { ...apiHeaders, location: `${consoleBase}/` })
      return
    }
    const { route, path } = this.#find(request)
    gate.checkAccess(request, route.access)
    const body = request.method === 'POST' ? await readBody(request, reply) : undefined
    const query = new URLSearchParams(request.query)
    const api: ApiRequest = { path, query, body }
    if ('stream' in route) route.stream(api, reply, apiHeaders)
    else if ('text' in route) sendText(reply, route.text(api))
    else reply.send(200, jsonHeaders, JSON.stringify((await route.json(api)) ?? {}))
  }

  #find({ method, path }: HttpRequest): {
    readonly route: ConsoleRoute
    readonly path: Readonly<Record<string, string>>
  } {
    const parts = path.slice(consoleBase.length).split('/')
    const matches = this.#routes.flatMap(each => {
      const found = matched(each.parts, parts)
      return found === undefined ? [] : [{ route: each.route, path: found }]
    })
    const match = matches.find(({ route }) => route.method === method)
    if (match !== undefined) return match
    if (matches.length === 0) throw new ApiError(404, 'not_found', `there is no path ${path}`)
    const allowed = matches.map(({ route }) => route.method).join(', ')
    throw new ApiError(405, 'bad_method', `the method must be ${allowed}`)
  }

  #fail(reply: HttpReply, error: unknown): void {
    if (reply.isFinished) return
    const isExpected = error instanceof ApiError
    if (!isExpected) this.#options.onError(error)
    const { status, reason, message } = isExpected
      ? error
      : { status: 500, reason: 'internal_error', message: 'the console failed; its log says why' }
    reply.send(status, jsonHeaders, JSON.stringify({ error: { reason, message } }))
  }
}

interface CompiledRoute {
  readonly route: ConsoleRoute
  readonly parts: readonly string[]
}

const apiHeaders = { ...safetyHeaders, 'cache-control': 'no-store' }
const jsonHeaders = { ...apiHeaders, 'content-type': 'application/json' }

/** Returns the variable parts of a path that a pattern matches; undefined if it does not match. */
function matched(
  pattern: readonly string[],
  parts: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== parts.length) return undefined
  const found: [string, string][] = []
  for (const [at, expected] of pattern.entries()) {
    const part = parts[at] ?? ''
    if (!expected.startsWith(':')) {
      if (expected !== part) return undefined
      continue
    }
    const value = decoded(part)
    if (value === undefined || value === '') return undefined
    found.push([expected.slice(1), value])
  }
  return Object.fromEntries(found)
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Reads a JSON body. Rejects if the client disconnects. */
async function readBody(request: HttpRequest, reply: HttpReply): Promise<unknown> {
  const bytes = await new Promise<Uint8Array | undefined | 'no-room'>((resolve, reject) => {
    reply.onDisconnect(() => reject(new ApiError(400, 'disconnected', 'the client is gone')))
    request.body(limits.consoleBodyBytes.default, resolve)
  })
  if (bytes === 'no-room') throw new ApiError(503, 'overloaded', 'too many requests are in flight')
  if (bytes === undefined) {
    const most = limits.consoleBodyBytes.default
    throw new ApiError(413, 'too_large', `the body is larger than ${most} bytes`)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ApiError(400, 'bad_json', 'the body is not JSON')
  }
}

function sendText(reply: HttpReply, { type, text, isImmutable }: TextAnswer): void {
  const cache = isImmutable === true ? 'public, max-age=31536000, immutable' : 'no-store'
  reply.send(200, { ...safetyHeaders, 'content-type': type, 'cache-control': cache }, text)
}

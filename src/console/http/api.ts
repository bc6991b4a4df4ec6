import type { HttpReply } from '../../http/exchange.ts'

/** What a viewer needs for a route: nothing, the key, or the key and the permission to change something. */
export type RouteAccess = 'open' | 'reads' | 'changes'

/** A request that has passed the gate. */
export interface ApiRequest {
  /** The variable parts of the path, such as `name` of `/api/servers/:name`. */
  readonly path: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The decoded JSON body; undefined for a GET request. */
  readonly body: unknown
}

/** A text with its type, such as a file of the page. */
export interface TextAnswer {
  readonly type: string
  readonly text: string
  /** Whether browsers may keep the text for good, because its name changes with its contents. */
  readonly isImmutable?: boolean
}

/** One row of the table of routes. A handler returns a value that is sent as JSON. Throws an ApiError to refuse. */
export type ConsoleRoute =
  | (RoutePlace & { readonly json: (request: ApiRequest) => unknown })
  | (RoutePlace & { readonly text: (request: ApiRequest) => TextAnswer })
  | (RoutePlace & {
      readonly stream: (
        request: ApiRequest,
        reply: HttpReply,
        headers: Readonly<Record<string, string>>,
      ) => void
    })

interface RoutePlace {
  readonly method: 'GET' | 'POST'
  /** Below `/console`, such as `/api/servers/:name`. */
  readonly path: string
  readonly access: RouteAccess
}

/** Thrown by a handler to answer with an error. */
export class ApiError extends Error {
  /** Always `ApiError`. */
  override readonly name = 'ApiError'
  readonly status: number
  /** The error as a word, for programs. */
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

/** Returns a member of the body that must be a string. Throws an ApiError 400 otherwise. */
export function textMember(body: unknown, name: string): string {
  // The check: a member of anything but an object is undefined.
  const value = (body as Record<string, unknown> | null | undefined)?.[name]
  if (typeof value === 'string') return value
  throw new ApiError(400, 'bad_request', `the member "${name}" must be a string`)
}

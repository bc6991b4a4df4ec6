import { isRecord } from '../../util/objects.ts'
import type { OriginPolicy, RequestOrigin } from '../../util/origin.ts'

/** The pages on which users allow a router to act for them, made by `connectPages` of `trunkline/auth`. */
export interface ConnectPages {
  /** The URL of the pages; undefined until a listener or a handler serves them. */
  readonly url: string | undefined
}

/** What the pages need of an HTTP request. */
export interface PageRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  header(name: string): string | undefined
  origin(): RequestOrigin
  local(): Pick<OriginPolicy, 'port' | 'loopback'>
  body(maxBytes: number, done: (body: Uint8Array | undefined | 'no-room') => void): void
}

/** The answer to a request for a page. */
export interface PageResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The pages, as those who serve them see them. */
export interface ServedPages extends ConnectPages {
  /**
   * Tells the pages the address of their listener, undefined if it is not known, and by which verifiers it authenticates
   * callers. Throws a TypeError if the pages could not know whose browser visits them.
   */
  bind(address: string | undefined, verifiers: readonly string[]): void
  /** Whether the path of a request is one of the pages. */
  handles(request: Pick<PageRequest, 'path'>): boolean
  /** Answers a request for a page. Never rejects. */
  respond(request: PageRequest): Promise<PageResponse>
}

/** Returns pages as those who serve them see them. Throws a TypeError for an object that `connectPages` has not made. */
export function servedPages(pages: ConnectPages): ServedPages {
  if (isServed(pages)) return pages
  throw new TypeError('pages: expected the result of connectPages()')
}

function isServed(pages: unknown): pages is ServedPages {
  if (!isRecord(pages)) return false
  return [pages.bind, pages.handles, pages.respond].every(one => typeof one === 'function')
}

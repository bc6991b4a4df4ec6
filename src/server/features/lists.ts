import type { CacheHints } from '../../mcp/types/base.ts'
import {
  type HandlerResult,
  type IncomingRequest,
  type NamedParams,
  whenReady,
} from '../request.ts'
import { canHide } from './access.ts'
import { pageOf } from './pagination.ts'
import type { CallerView, FeatureHost, Hideable } from './registry.ts'

/** What lists need from their endpoint. */
export interface ListHost extends FeatureHost {
  /** The methods of lists that clients may share between principals, by the option `cache`. */
  readonly publicLists: ReadonlySet<string>
}

/**
 * Answers a list request with a page of what its caller sees, under `member` of the result. `encode` makes
 * the entries of the whole view, in its order.
 *
 * A list that differs between callers is never shared: clients may cache it for themselves only, and where
 * callers see other entries, cursors belong to the principal.
 */
export function listPage<T>(
  request: IncomingRequest,
  { cursors, pageSize }: FeatureHost,
  view: CallerView<T> | Promise<CallerView<T>>,
  member: string,
  encode: (view: CallerView<T>) => readonly unknown[],
): HandlerResult {
  const { caller, params } = request
  return whenReady(view, known => {
    const list = known.isFiltered ? JSON.stringify([member, caller.principal?.id]) : member
    const page = pageOf(encode(known), list, params, cursors, pageSize, known.positions)
    return whenReady(page, ({ items, nextCursor }) => {
      const result: Record<string, unknown> = { [member]: items }
      if (nextCursor !== undefined) result.nextCursor = nextCursor
      const isPersonal = known.isFiltered || known.isTranslated
      if (isPersonal && caller.revision.features.cacheHints) result.cacheScope = 'private'
      return result as NamedParams
    })
  })
}

/**
 * Throws a TypeError for an entry that only some callers see, in a list or with contents that clients may
 * share between principals.
 */
export function checkPublicList(
  what: string,
  definition: Hideable & { readonly cache?: CacheHints },
  isPublic: boolean,
): void {
  const { visible, auth } = definition
  if (visible === undefined && (auth === undefined || !canHide(auth))) return
  if (isPublic) {
    throw new TypeError(
      `${what}: "visible" and "auth" need a private list, but the option "cache" of the server makes it public`,
    )
  }
  if (definition.cache?.cacheScope === 'public') {
    throw new TypeError(`${what}: "visible" or "auth" and a public "cache" contradict each other`)
  }
}

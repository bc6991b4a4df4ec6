import type { PagedResult } from '../mcp/types/base.ts'
import { isRecord } from '../util/objects.ts'
import type { ListOptions } from './call-options.ts'
import type { Core } from './core.ts'
import { pages } from './pages.ts'
import type { RequestOptions } from './requests/request-run.ts'

/** A list of the server. */
export interface ListSource<R extends PagedResult, T> {
  readonly method: string
  readonly options: ListOptions
  /** Returns the entries of a page. */
  entries(page: R): readonly T[]
  /** Requests a page. */
  get(params: { readonly cursor?: string }, options: RequestOptions): Promise<R>
}

/** Yields the entries of a list. The next page is requested when the iteration reaches it. */
export function listEntries<R extends PagedResult, T extends object>(
  core: Core,
  { method, entries, get, options }: ListSource<R, T>,
): AsyncGenerator<T, void, undefined> {
  const { maxPages, onMeta, onInvalid, ...own } = options
  const getPage = async (cursor: string | undefined, isRestart: boolean): Promise<R> => {
    const how = isRestart ? { ...own, fresh: true } : own
    const page = await get(cursor === undefined ? {} : { cursor }, how)
    if (onMeta !== undefined && isRecord(page._meta)) onMeta(page._meta)
    return page
  }
  return pages(getPage, {
    method,
    entries,
    isEmptyCursor: () => core.reconnecting.latest.server.revision.features.emptyCursors,
    maxPages,
    onInvalid,
    session: () => sessionOf(core),
  })
}

/** Returns what cursors belong to: the session, or nothing in revisions without sessions. */
function sessionOf({ reconnecting }: Core): unknown {
  if (!reconnecting.latest.server.revision.features.sessions) return undefined
  const opened = reconnecting.ready()
  return opened instanceof Promise ? opened : opened.connection
}

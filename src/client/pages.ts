import { ChannelError } from '../jsonrpc/channel.ts'
import type { PagedResult } from '../mcp/types/base.ts'
import { limits } from '../util/limits.ts'
import { unreadable } from './failures.ts'
import { isRecord } from './record.ts'

/** Gets one page: the first one without a cursor. */
export type GetPage<R extends PagedResult> = (cursor: string | undefined) => Promise<R>

/** What is known of a list whose pages are followed. */
export interface PageOptions<R, T> {
  /** What is listed, for errors. */
  readonly method: string
  readonly entries: (page: R) => readonly T[]
  /** Whether the empty string means that there is another page, as it does in stateless revisions. */
  readonly isEmptyCursor: () => boolean
  readonly maxPages?: number
}

/**
 * The entries of a list, page by page: the next page is fetched when it is reached. Throws a
 * ChannelError `'framing'` when the pages go in a circle, and `'too-many'` when there is no end.
 */
export async function* pages<R extends PagedResult, T>(
  getPage: GetPage<R>,
  options: PageOptions<R, T>,
): AsyncGenerator<T, void, undefined> {
  const { method, entries, isEmptyCursor, maxPages = limits.pages.default } = options
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 1; ; page++) {
    const result = await getPage(cursor)
    for (const entry of entries(result)) {
      if (!isRecord(entry)) throw unreadable(method, 'an entry of the list is no object')
      // The check: what came over a wire is no promise.
      yield entry as Awaited<T>
    }
    const { nextCursor } = result
    if (nextCursor === undefined || nextCursor === null) return
    if (nextCursor === '' && !isEmptyCursor()) return
    if (typeof nextCursor !== 'string') throw unreadable(method, 'the cursor is no string')
    if (seen.has(nextCursor)) throw unreadable(method, 'the pages go in a circle')
    if (page >= maxPages) {
      throw new ChannelError('too-many', `${method}: there is more after ${page} pages`)
    }
    seen.add(nextCursor)
    cursor = nextCursor
  }
}

import { ChannelError } from '../jsonrpc/channel.ts'
import { codes, RpcError } from '../jsonrpc/error.ts'
import type { PagedResult } from '../mcp/types/base.ts'
import { limits } from '../util/limits/limits.ts'
import { isRecord } from '../util/record.ts'
import { withSafeIcons } from './connection/icons.ts'
import { isLost, isUnsent, unreadable } from './errors.ts'

/** Gets one page: the first one without a cursor. `isAgain` asks for it as it is now. */
export type GetPage<R extends PagedResult> = (
  cursor: string | undefined,
  isAgain: boolean,
) => Promise<R>

/** What is known of a list whose pages are followed. */
export interface PageOptions<R, T> {
  /** What is listed, for errors. */
  readonly method: string
  readonly entries: (page: R) => readonly T[]
  /** Whether the empty string means that there is another page, as it does in stateless revisions. */
  readonly isEmptyCursor: () => boolean
  /** What cursors belong to: they are of no use to another one. */
  readonly session: () => unknown
  readonly maxPages?: number
}

/**
 * The entries of a list, page by page: the next page is fetched when it is reached.
 *
 * When a cursor is of no use any more, because the server refuses it or the session is another one, the
 * list is read once more from the beginning, and what has been given before is left out. Throws a
 * ChannelError `'framing'` when the pages go in a circle, and `'too-many'` when there is no end.
 */
export async function* pages<R extends PagedResult, T extends object>(
  getPage: GetPage<R>,
  options: PageOptions<R, T>,
): AsyncGenerator<T, void, undefined> {
  const { method, entries, session, maxPages = limits.pages.default } = options
  const given = new Set<unknown>()
  let seen = new Set<string>()
  let begunIn = session()
  let cursor: string | undefined
  let isAgain = false
  for (let page = 1; ; page++) {
    let result: R
    try {
      if (cursor !== undefined && session() !== begunIn) throw new ChannelError('closed', method)
      result = await getPage(cursor, isAgain)
    } catch (error) {
      // One that refuses its own new cursors would do so for ever.
      if (cursor === undefined || !isUseless(error, isAgain) || page >= maxPages) throw error
      isAgain = true
      seen = new Set()
      cursor = undefined
      begunIn = session()
      continue
    }
    // A first page may have waited for the session it comes from.
    if (cursor === undefined) begunIn = session()
    for (const entry of entries(result)) {
      if (!isRecord(entry)) throw unreadable(method, 'an entry of the list is no object')
      const key = keyOf(entry)
      if (isAgain && given.has(key)) continue
      given.add(key)
      // The check: what came over a wire is no promise.
      yield withSafeIcons(entry) as Awaited<T>
    }
    const next = nextOf(result, options)
    if (next === undefined) return
    if (seen.has(next)) throw unreadable(method, 'the pages go in a circle')
    if (page >= maxPages) {
      throw new ChannelError('too-many', `${method}: there is more after ${page} pages`)
    }
    seen.add(next)
    cursor = next
  }
}

function nextOf<R extends PagedResult, T>(
  { nextCursor }: R,
  { method, isEmptyCursor }: PageOptions<R, T>,
): string | undefined {
  if (nextCursor === undefined || nextCursor === null) return undefined
  if (nextCursor === '' && !isEmptyCursor()) return undefined
  if (typeof nextCursor !== 'string') throw unreadable(method, 'the cursor is no string')
  return nextCursor
}

/** Whether a cursor failed for being a cursor of something that is gone. */
function isUseless(error: unknown, isAgain: boolean): boolean {
  if (isLost(error) || isUnsent(error)) return true
  return !isAgain && error instanceof RpcError && error.code === codes.invalidParams
}

/** What tells an entry of a list from the others. */
function keyOf(entry: Readonly<Record<string, unknown>>): unknown {
  return entry.uri ?? entry.uriTemplate ?? entry.taskId ?? entry.name
}

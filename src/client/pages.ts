import { ChannelError } from '../jsonrpc/channel.ts'
import { codes, RpcError } from '../jsonrpc/error.ts'
import type { PagedResult } from '../mcp/types/base.ts'
import { limits } from '../util/limits/limits.ts'
import { isRecord } from '../util/objects.ts'
import { withSafeIcons } from './connection/icons.ts'
import { invalidResponse, isLost, isUnsent } from './errors.ts'

/** Fetches one page; the first one without a cursor. `isRestart` bypasses the cache. */
export type GetPage<R extends PagedResult> = (
  cursor: string | undefined,
  isRestart: boolean,
) => Promise<R>

/** Options of a paginated list. */
export interface PageOptions<R, T> {
  /** The list method, for errors. */
  readonly method: string
  readonly entries: (page: R) => readonly T[]
  /** Whether an empty string is a valid cursor, as in stateless revisions. */
  readonly isEmptyCursor: () => boolean
  /** Returns the session that cursors belong to: they are invalid in another session. */
  readonly session: () => unknown
  readonly maxPages?: number
  /** Called with each entry that is not an object, which is left out. By default such an entry is an error. */
  readonly onInvalid?: (entry: unknown) => void
}

/**
 * Yields the entries of a paginated list. The next page is fetched when the iteration reaches it.
 *
 * When a cursor becomes invalid, because the server rejects it or the session is a new one, the list is
 * read once more from the start, and entries that were yielded before are skipped. Throws a ChannelError
 * `'framing'` if a cursor repeats, and `'too-many'` after `maxPages`.
 */
export async function* pages<R extends PagedResult, T extends object>(
  getPage: GetPage<R>,
  options: PageOptions<R, T>,
): AsyncGenerator<T, void, undefined> {
  const { method, entries, session, onInvalid, maxPages = limits.pages.default } = options
  const given = new Set<unknown>()
  let seen = new Set<string>()
  let cursorSession = session()
  let cursor: string | undefined
  let isRestart = false
  for (let page = 1; ; page++) {
    let result: R
    try {
      if (cursor !== undefined && session() !== cursorSession)
        throw new ChannelError('closed', method)
      result = await getPage(cursor, isRestart)
    } catch (error) {
      // A server that rejects its own new cursors would do so for ever.
      if (cursor === undefined || !isInvalidCursor(error, isRestart) || page >= maxPages)
        throw error
      isRestart = true
      seen = new Set()
      cursor = undefined
      cursorSession = session()
      continue
    }
    // The first page may have waited for a new session.
    if (cursor === undefined) cursorSession = session()
    for (const entry of entries(result)) {
      if (!isRecord(entry)) {
        if (onInvalid === undefined) {
          throw invalidResponse(method, 'an entry of the list is not an object')
        }
        onInvalid(entry)
        continue
      }
      const key = keyOf(entry)
      if (isRestart && given.has(key)) continue
      given.add(key)
      // The check: decoded JSON is never a promise.
      yield withSafeIcons(entry) as Awaited<T>
    }
    const next = nextOf(result, options)
    if (next === undefined) return
    if (seen.has(next)) throw invalidResponse(method, 'the cursor repeats')
    if (page >= maxPages) {
      throw new ChannelError('too-many', `${method}: more than ${page} pages`)
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
  if (typeof nextCursor !== 'string') throw invalidResponse(method, 'the cursor is not a string')
  return nextCursor
}

/** Whether a page failed because its cursor is not valid any more. */
function isInvalidCursor(error: unknown, isRestart: boolean): boolean {
  if (isLost(error) || isUnsent(error)) return true
  return !isRestart && error instanceof RpcError && error.code === codes.invalidParams
}

/** Returns the identity of an entry in its list. */
function keyOf(entry: Readonly<Record<string, unknown>>): unknown {
  return entry.uri ?? entry.uriTemplate ?? entry.taskId ?? entry.name
}

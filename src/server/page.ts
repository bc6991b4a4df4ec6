import { errors } from '../mcp/errors.ts'
import type { Cursors } from './cursor.ts'
import type { Params } from './request.ts'

/** One page of a list and, unless it is the last one, where the next begins. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | undefined
}

/** The page that the params ask for; a cursor that is not ours is refused. */
export function pageOf<T>(
  all: readonly T[],
  list: string,
  params: Params,
  cursors: Cursors,
  size: number,
): Page<T> {
  const start = params.cursor === undefined ? 0 : startOf(params.cursor, list, cursors)
  const end = start + size
  // Things may have gone since the cursor was made: what is left is the last page.
  return {
    items: start === 0 && all.length <= size ? all : all.slice(start, end),
    nextCursor: end < all.length ? cursors.make(list, end) : undefined,
  }
}

function startOf(cursor: unknown, list: string, cursors: Cursors): number {
  const position = typeof cursor === 'string' ? cursors.read(list, cursor) : undefined
  if (position === undefined) {
    throw errors.invalidCursor({ cursor: typeof cursor === 'string' ? cursor : String(cursor) })
  }
  return position
}

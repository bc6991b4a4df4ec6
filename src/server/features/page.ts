import { errors } from '../../mcp/errors/constructors.ts'
import type { Params } from '../request.ts'
import type { Cursors } from './cursor.ts'

/** One page of a list and, unless it is the last one, where the next begins. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | undefined
}

/**
 * The page that the params ask for; a cursor that is not ours is refused.
 *
 * A cursor tells the place of the last entry that was shown. `places` are those of the entries, in
 * ascending order: where they stay the same while entries come and go, no other entry is shown twice
 * or left out. Without them an entry's place is its index.
 */
export function pageOf<T>(
  all: readonly T[],
  list: string,
  params: Params,
  cursors: Cursors,
  size: number,
  places?: readonly number[],
): Page<T> {
  const { cursor } = params
  const start = cursor === undefined ? 0 : startOf(placeIn(cursor, list, cursors), places)
  const end = start + size
  if (start === 0 && all.length <= size) return { items: all, nextCursor: undefined }
  const isLast = end >= all.length
  return {
    // What was behind the cursor may have gone since: then what is left is the last page.
    items: all.slice(start, end),
    nextCursor: isLast ? undefined : cursors.make(list, places?.[end - 1] ?? end - 1),
  }
}

/** The index of the first entry behind a place. */
function startOf(place: number, places: readonly number[] | undefined): number {
  if (places === undefined) return place + 1
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] ?? 0) > place) high = middle
    else low = middle + 1
  }
  return low
}

function placeIn(cursor: unknown, list: string, cursors: Cursors): number {
  const place = typeof cursor === 'string' ? cursors.read(list, cursor) : undefined
  if (place === undefined) {
    throw errors.invalidCursor({ cursor: typeof cursor === 'string' ? cursor : String(cursor) })
  }
  return place
}

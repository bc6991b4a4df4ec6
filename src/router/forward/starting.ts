import type { ListKind } from '../../mcp/list-changes.ts'
import { abortable } from '../../util/promises.ts'
import { mayExpose } from '../catalog/names.ts'
import type { Route } from '../dispatch/route.ts'

/**
 * Settles when no server is starting for the first time whose lists of this kind are unknown, of those
 * that `mayHave` selects; undefined if there is none. Rejects with the reason of the signal when the caller
 * cancels.
 */
export function whenListed(
  routes: readonly Route[],
  kind: ListKind,
  signal?: () => AbortSignal,
  mayHave: (route: Route) => boolean = () => true,
): Promise<unknown> | undefined {
  const waits = routes.flatMap(route =>
    mayHave(route) ? (route.upstream.whenListed(kind) ?? []) : [],
  )
  return waits.length === 0 ? undefined : abortable(Promise.all(waits), signal?.())
}

/** Returns whether a tool or prompt with this exposed name can be one of a server. */
export function mayHaveName(name: string): (route: Route) => boolean {
  return ({ upstream }) => mayExpose(upstream.name, upstream.options.prefix, name)
}

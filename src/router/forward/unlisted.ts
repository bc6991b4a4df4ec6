import { RpcError } from '../../jsonrpc/error.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { HandlerResult } from '../../server/request.ts'
import type { Route } from '../dispatch/route.ts'
import { wasUnsent } from './errors.ts'
import { missingResourceError } from './finder.ts'

/** A request for a resource or a skill that no server lists: servers need not list everything. */
export interface UnlistedSearch {
  /** The servers that may have it. */
  readonly among: readonly Route[]
  /** All servers. */
  readonly routes: readonly Route[]
  /** The error if no server has it. */
  readonly notFound: Error
  forward(route: Route): HandlerResult
}

/** Forwards the request to one server after the other until one has what is requested. */
export async function searchUnlisted({
  among,
  routes,
  notFound,
  forward,
}: UnlistedSearch): Promise<Members> {
  let absent: Error | undefined
  for (const route of among) {
    try {
      return await forward(route)
    } catch (error) {
      // An unavailable server hides its own resources only.
      if (wasUnsent(error)) absent ??= error
      else if (!isNotFound(error)) throw error
    }
  }
  absent ??= missingResourceError(routes)
  throw absent ?? notFound
}

/** Returns the routes to the servers that have resources. */
export function readersOf(routes: readonly Route[]): readonly Route[] {
  return routes.filter(
    ({ upstream }) => upstream.ready?.first?.server.capabilities.resources !== undefined,
  )
}

/** Returns the route to the only server that has resources: an unlisted one can only be its own. */
export function onlyReader(routes: readonly Route[]): Route | undefined {
  const [first, second] = readersOf(routes)
  return second === undefined ? first : undefined
}

function isNotFound(error: unknown): boolean {
  return (
    error instanceof RpcError &&
    (error.kind === 'resource_not_found' ||
      error.kind === 'method_not_found' ||
      error.kind === 'invalid_params')
  )
}

/**
 * What somebody's code gave, as a promise if it is one of any kind: query builders of databases, and
 * other realms, have their own. Throws what looking at it throws: it may be anybody's object.
 */
export function promised(outcome: unknown): unknown {
  if (outcome instanceof Promise || typeof outcome !== 'object' || outcome === null) return outcome
  const { then } = outcome as { then?: unknown }
  // The check: a thenable; one that settles twice or throws is tamed by Promise.resolve.
  return typeof then === 'function' ? Promise.resolve(outcome as PromiseLike<unknown>) : outcome
}

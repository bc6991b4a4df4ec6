import type { Caller } from '../../mcp/caller.ts'
import { matcher } from '../catalog/glob.ts'
import type { CallerRule } from '../options.ts'
import type { SharedView } from './view.ts'

/** A view, and the callers who have it at the endpoint of the router. */
export interface ViewChoice {
  readonly view: SharedView
  readonly callers: readonly CallerRule[]
}

/** Returns the function that says which view a caller has: the first with a rule that matches, else `all`. */
export function viewChoice(
  all: SharedView,
  choices: readonly ViewChoice[],
): (caller: Caller) => SharedView {
  const compiled = choices
    .filter(({ callers }) => callers.length > 0)
    .map(({ view, callers }) => ({ view, rules: callers.map(ruleMatcher) }))
  if (compiled.length === 0) return () => all
  return caller => compiled.find(({ rules }) => rules.some(is => is(caller)))?.view ?? all
}

function ruleMatcher({ principal, client }: CallerRule): (caller: Caller) => boolean {
  const isPrincipal = principal === undefined ? undefined : matcher([principal])
  const isClient = client === undefined ? undefined : matcher([client])
  return caller =>
    isPrincipal?.(caller.principal?.id ?? '') !== false &&
    isClient?.(caller.client?.name ?? '') !== false
}

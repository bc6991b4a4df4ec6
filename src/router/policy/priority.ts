import type { Caller } from '../../mcp/caller.ts'
import { isRecord } from '../../util/objects.ts'
import { matcher } from '../catalog/glob.ts'
import type { Priority, PriorityRule } from '../options.ts'

/** The member of `_meta` in which a caller asks for a priority. */
const priorityKey = 'trunkline/priority'

/** The call that a priority is wanted for. */
export interface PrioritizedCall {
  readonly caller: Caller
  /** The upstream name of the tool. */
  readonly tool: string | undefined
  readonly params: unknown
}

/** Priorities, the most urgent one first. */
export const priorities = ['high', 'normal', 'low'] as const satisfies readonly Priority[]

/**
 * Returns the function that says which priority a call to a server has: that of the first rule that matches
 * it. By default a call is `normal`, or `low` if its caller asks for that: a caller can lower its priority,
 * but not raise it, unless a rule says `caller`.
 */
export function priorityRules(
  rules: readonly PriorityRule[] = [],
): (server: string, call: PrioritizedCall) => Priority {
  const compiled = rules.map(rule => ({ priority: priorityOf(rule), matches: ruleMatcher(rule) }))
  return (server, call) => {
    const wanted = wantedIn(call.params)
    const found = compiled.find(({ matches }) => matches(server, call))
    if (found === undefined) return wanted === 'low' ? 'low' : 'normal'
    return found.priority === 'caller' ? (wanted ?? 'normal') : found.priority
  }
}

function ruleMatcher(rule: PriorityRule): (server: string, call: PrioritizedCall) => boolean {
  const [server, tool, principal, client] = [
    rule.server,
    rule.tool,
    rule.principal,
    rule.client,
  ].map(pattern => (pattern === undefined ? undefined : matcher([pattern])))
  return (name, { tool: called, caller }) =>
    server?.(name) !== false &&
    tool?.(called ?? '') !== false &&
    principal?.(caller.principal?.id ?? '') !== false &&
    client?.(caller.client?.name ?? '') !== false
}

function priorityOf({ priority = 'normal' }: PriorityRule): Priority | 'caller' {
  if (priority === 'caller' || isPriority(priority)) return priority
  throw new TypeError(
    `the priority of a rule must be "high", "normal", "low" or "caller" (got ${JSON.stringify(priority)})`,
  )
}

function wantedIn(params: unknown): Priority | undefined {
  const meta = isRecord(params) ? params._meta : undefined
  const wanted = isRecord(meta) ? meta[priorityKey] : undefined
  return isPriority(wanted) ? wanted : undefined
}

function isPriority(value: unknown): value is Priority {
  return priorities.some(priority => priority === value)
}

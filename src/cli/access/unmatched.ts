import type { AccessPolicy } from '../../router/access/policy.ts'
import { matcher } from '../../router/catalog/glob.ts'
import { prefixOf } from '../../router/catalog/names.ts'
import type { UpstreamOptions } from '../../router/options.ts'

/** A pattern of a policy that can match nothing. */
export interface UnmatchedPattern {
  readonly rule: string
  readonly pattern: string
  /** Why, for people. */
  readonly reason: string
}

/**
 * Returns the patterns that match no tool or prompt of these servers, whatever the servers list: the names that
 * callers see begin with the prefix of their server. Resources have any URI, so their patterns are not judged.
 */
export function unmatchedPatterns(
  { rules }: AccessPolicy,
  servers: Readonly<Record<string, UpstreamOptions>>,
): readonly UnmatchedPattern[] {
  const all = Object.entries(servers)
  return rules.flatMap(({ name: rule, server, allow, deny, prompts = [] }) => {
    const isOf = server === undefined ? () => true : matcher([server])
    const those = all.filter(([name]) => isOf(name))
    if (server !== undefined && those.length === 0) {
      return [{ rule, pattern: server, reason: 'there is no such server' }]
    }
    const prefixes = those.map(([name, { prefix }]) => prefixOf(name, prefix))
    const reason = 'no server has names that begin like this'
    return [...(allow ?? deny ?? []), ...prompts]
      .filter(pattern => !prefixes.some(prefix => mayBegin(pattern, prefix)))
      .map(pattern => ({ rule, pattern, reason }))
  })
}

/** Whether a pattern can match a text with this beginning. */
function mayBegin(pattern: string, beginning: string): boolean {
  const [literal = ''] = pattern.split('*')
  return literal.length < pattern.length
    ? literal.startsWith(beginning) || beginning.startsWith(literal)
    : literal.startsWith(beginning)
}

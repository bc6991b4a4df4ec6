import type { Caller } from '../../mcp/caller.ts'
import type { Root } from '../../mcp/types/roots.ts'
import { isRecord } from '../../util/record.ts'
import { badAnswer } from './bad-answer.ts'

/** The roots of an answer, checked as far as their shape goes. */
export function rootsAnswer(caller: Caller, answer: unknown, key?: string): readonly Root[] {
  const fault = rootsFault(answer)
  if (fault !== undefined) throw badAnswer(caller, 'roots', fault, key)
  // The check: a list of objects with a uri each.
  return (answer as { readonly roots: readonly Root[] }).roots
}

/** What is wrong with the shape of a list of roots; undefined if nothing is. */
function rootsFault(answer: unknown): string | undefined {
  if (!isRecord(answer) || !Array.isArray(answer.roots)) return 'it has no list of roots'
  const isRoot = (root: unknown) => isRecord(root) && typeof root.uri === 'string'
  return answer.roots.every(isRoot) ? undefined : 'a root has no uri'
}

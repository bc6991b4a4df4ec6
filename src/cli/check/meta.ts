import { hasReservedPrefix, metaKeyProblem, metaKeys } from '../../mcp/meta.ts'
import type { Features } from '../../mcp/revisions/revision.ts'
import { isRecord } from '../../util/record.ts'
import { oneLine } from '../terminal.ts'
import { type Finding, warn } from './finding.ts'
import type { Heard } from './wire.ts'

/** Whether the keys of `_meta` in the entries of a list are such as the revision lets a server have. */
export function metaFindings(
  method: string,
  entries: readonly Heard[],
  rule: Features['reservedPrefixes'],
): readonly Finding[] {
  if (rule === 'none') return []
  const keys = new Set(entries.flatMap(({ _meta }) => (isRecord(_meta) ? Object.keys(_meta) : [])))
  return Array.from(keys).flatMap(key => {
    const shown = `the _meta key "${oneLine(key, 100)}" in ${method}`
    const problem = metaKeyProblem(key)
    if (problem !== undefined) {
      return [warn(`${shown} is none: ${problem}`, 'Name it as `com.example/name`.')]
    }
    if (!hasReservedPrefix(key, rule) || known.has(key)) return []
    const saw = `${shown} has a prefix that the protocol keeps to itself`
    return [warn(saw, 'Put the name of a domain of yours, turned around, in front of it.')]
  })
}

const known: ReadonlySet<string> = new Set(Object.values(metaKeys))

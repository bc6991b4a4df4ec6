import { skillFile, skillRoot } from '../../mcp/skills/uri.ts'
import { isRecord } from '../../util/objects.ts'
import type { ListName } from './list-names.ts'

/** An entry of a list that a server sent and that is left out. */
export interface InvalidEntry {
  readonly what: 'tool' | 'prompt' | 'resource' | 'skill'
  /** Its name or URI, if it has one. */
  readonly name: string
  /** What is wrong with it, in one line, for the operator. */
  readonly why: string
}

/**
 * Divides the entries of a list into valid and invalid ones. Many clients reject a whole list because of
 * one invalid entry, so a router must neither fail on one nor pass it on.
 */
export function checkEntries(
  list: ListName,
  entries: readonly unknown[],
): { readonly valid: readonly unknown[]; readonly invalid: readonly InvalidEntry[] } {
  const valid: unknown[] = []
  const invalid: InvalidEntry[] = []
  const { what, key, problem } = checks[list]
  for (const entry of entries) {
    const why = isRecord(entry)
      ? (problemIn(entry, key) ?? problem?.(entry))
      : 'the entry is not an object'
    if (why === undefined) valid.push(entry)
    else invalid.push({ what, name: nameOf(entry, key), why })
  }
  return { valid, invalid }
}

type Entry = Readonly<Record<string, unknown>>

interface Check {
  readonly what: InvalidEntry['what']
  /** The member that identifies an entry. */
  readonly key: string
  /** Says what else is wrong. */
  readonly problem?: (entry: Entry) => string | undefined
}

const checks: Readonly<Record<ListName, Check>> = {
  tools: { what: 'tool', key: 'name', problem: toolProblem },
  prompts: { what: 'prompt', key: 'name', problem: promptProblem },
  resources: { what: 'resource', key: 'uri' },
  templates: { what: 'resource', key: 'uriTemplate' },
  skills: { what: 'skill', key: 'uri', problem: skillProblem },
}

function problemIn(entry: Entry, key: string): string | undefined {
  if (typeof entry[key] !== 'string') return `its ${key} is not a string`
  const text = texts.find(member => isPresent(entry[member]) && typeof entry[member] !== 'string')
  if (text !== undefined) return `its ${text} is not a string`
  const record = records.find(member => isPresent(entry[member]) && !isRecord(entry[member]))
  return record === undefined ? undefined : `its ${record} is not an object`
}

const texts = ['title', 'description', 'mimeType']
const records = ['annotations', '_meta', 'execution', 'outputSchema']

function toolProblem({ inputSchema }: Entry): string | undefined {
  if (!isRecord(inputSchema)) return 'its inputSchema is not an object'
  const { type } = inputSchema
  return type === undefined || type === 'object'
    ? undefined
    : 'its inputSchema is not a schema of an object'
}

function skillProblem({ uri, frontmatter, resources }: Entry): string | undefined {
  if (skillRoot(String(uri)) === undefined) return `its uri is not that of a ${skillFile}`
  if (!isRecord(frontmatter)) return 'its frontmatter is not an object'
  return resources === 'dynamic' || Array.isArray(resources)
    ? undefined
    : 'its resources are neither a list nor "dynamic"'
}

function promptProblem({ arguments: args }: Entry): string | undefined {
  if (!isPresent(args)) return undefined
  const isValid =
    Array.isArray(args) && args.every(one => isRecord(one) && typeof one.name === 'string')
  return isValid ? undefined : 'its arguments are not a list of named objects'
}

/** Some servers write null where they mean that there is nothing. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function nameOf(entry: unknown, key: string): string {
  const name = isRecord(entry) ? entry[key] : undefined
  return typeof name === 'string' ? name : ''
}

import type { Client, ListOptions } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { skillsSettings } from '../../mcp/extension.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Skill } from '../../mcp/types/skills.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkEntries, type InvalidEntry } from './entry-check.ts'

/** The lists of one upstream server, as the server sent them. */
export interface Lists {
  /** Its tools. */
  readonly tools: readonly Tool[]
  /** Its prompts. */
  readonly prompts: readonly Prompt[]
  /** Its resources. */
  readonly resources: readonly Resource[]
  /** Its resource templates. */
  readonly templates: readonly ResourceTemplate[]
  /** Its skills. */
  readonly skills: readonly Skill[]
}

/** Lists that have not been read. Compare its members by identity to distinguish them from empty lists. */
export const noLists: Lists = { tools: [], prompts: [], resources: [], templates: [], skills: [] }

/** A kind of list with its own change notification; `resources` includes the templates and the skills. */
export type ListKind = 'tools' | 'prompts' | 'resources'

/** All kinds of lists. */
export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources']

/** A list that could not be read. */
export interface ListFailure {
  /** The request that failed. */
  readonly method: string
  readonly error: unknown
}

/** The lists of one kind that could be read, and the errors of the others. */
export interface ReadList {
  readonly lists: Partial<Lists>
  readonly failures: readonly ListFailure[]
  /** The entries that are left out, because they are invalid. */
  readonly invalid: readonly InvalidEntry[]
}

/**
 * Reads the lists of one kind with all their pages, up to `upstreamEntries` entries each. A list that the
 * server does not declare, or declares but does not implement, is empty. `timeoutMs` limits each request.
 * Never rejects.
 */
export async function readList(
  client: Client,
  kind: ListKind,
  timeoutMs: number,
): Promise<ReadList> {
  const { capabilities } = client.server
  const isDeclared = capabilities[kind] !== undefined
  const lists: { -readonly [K in keyof Lists]?: Lists[K] } = {}
  const failures: ListFailure[] = []
  const invalid: InvalidEntry[] = []
  const read = async <K extends keyof Lists>(
    method: string,
    member: K,
    entries: (options: ListOptions) => AsyncIterable<Lists[K][number]>,
  ): Promise<void> => {
    const strange: unknown[] = []
    const onInvalid = (entry: unknown): void => void strange.push(entry)
    const options = { timeoutMs, fresh: true, onInvalid }
    try {
      const hasList = isDeclared && (member !== 'skills' || skillsSettings(capabilities))
      const found = hasList ? await all(entries(options)) : []
      const checked = checkEntries(member, [...found, ...strange])
      // The check: `checkEntries` has checked the members that are required.
      lists[member] = checked.valid as Lists[K]
      invalid.push(...checked.invalid)
    } catch (error) {
      failures.push({ method, error })
    }
  }
  if (kind === 'tools') await read('tools/list', 'tools', options => client.tools(options))
  else if (kind === 'prompts')
    await read('prompts/list', 'prompts', options => client.prompts(options))
  else {
    await Promise.all([
      read('resources/list', 'resources', options => client.resources(options)),
      read('resources/templates/list', 'templates', options => client.resourceTemplates(options)),
      read('skills/list', 'skills', options => client.skills(options)),
    ])
  }
  return { lists, failures, invalid }
}

async function all<T>(entries: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  try {
    for await (const entry of entries) {
      found.push(entry)
      if (found.length >= limits.upstreamEntries.default) break
    }
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'method_not_found') return found
    throw error
  }
  return found
}

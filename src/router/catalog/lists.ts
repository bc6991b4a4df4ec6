import type { ListOptions } from '../../client/call-options.ts'
import type { Client } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { skillsSettings } from '../../mcp/extension.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Skill } from '../../mcp/types/skills.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'
import { checkEntries, type InvalidEntry } from './entry-check.ts'
import { type ListName, listRequests, listsByKind } from './list-names.ts'

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

/** Reads the entries of each list. */
const readers: {
  readonly [K in ListName]: (
    client: Client,
    options: ListOptions,
  ) => AsyncIterable<Lists[K][number]>
} = {
  tools: (client, options) => client.tools(options),
  prompts: (client, options) => client.prompts(options),
  resources: (client, options) => client.resources(options),
  templates: (client, options) => client.resourceTemplates(options),
  skills: (client, options) => client.skills(options),
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
  const lists: { -readonly [K in ListName]?: Lists[K] } = {}
  const failures: ListFailure[] = []
  const invalid: InvalidEntry[] = []
  const read = async <K extends ListName>(list: K): Promise<void> => {
    const strange: unknown[] = []
    const onInvalid = (entry: unknown): void => void strange.push(entry)
    const options = { timeoutMs, fresh: true, onInvalid }
    try {
      const hasList = isDeclared && (list !== 'skills' || skillsSettings(capabilities))
      const found = hasList ? await all(readers[list](client, options)) : []
      const checked = checkEntries(list, [...found, ...strange])
      // The check: `checkEntries` has checked the members that are required.
      lists[list] = checked.valid as Lists[K]
      invalid.push(...checked.invalid)
    } catch (error) {
      failures.push({ method: listRequests[list], error })
    }
  }
  await Promise.all(listsByKind[kind].map(list => read(list)))
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

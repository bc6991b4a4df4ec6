import type { Client } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'

/** The lists of one upstream server, as the server sent them. */
export interface Lists {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
}

/** Lists that have not been read. Compare its members by identity to distinguish them from empty lists. */
export const noLists: Lists = { tools: [], prompts: [], resources: [], templates: [] }

/** A kind of list with its own change notification; `resources` includes the templates. */
export type ListKind = 'tools' | 'prompts' | 'resources'

/** All kinds of lists. */
export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources']

/** The lists that could be read, and the errors of the others. */
export interface ReadLists {
  readonly lists: Partial<Lists>
  readonly failures: readonly { readonly kind: ListKind; readonly error: unknown }[]
}

/**
 * Reads the given lists of a server with all their pages, up to `upstreamEntries` entries each. A list
 * that the server does not declare, or declares but does not implement, is empty. A list that fails does
 * not affect the others. `timeoutMs` limits each request. Never rejects.
 */
export async function readLists(
  client: Client,
  kinds: Iterable<ListKind>,
  timeoutMs: number,
): Promise<ReadLists> {
  const { capabilities } = client.server
  const options = { timeoutMs, fresh: true }
  const lists: { -readonly [K in keyof Lists]?: Lists[K] } = {}
  const failures: { kind: ListKind; error: unknown }[] = []
  const read = async <K extends keyof Lists>(
    kind: ListKind,
    member: K,
    entries: () => AsyncIterable<Lists[K][number]>,
  ): Promise<void> => {
    try {
      // The check: `entries` yields the entries of this very list.
      lists[member] = (capabilities[kind] === undefined ? [] : await all(entries())) as Lists[K]
    } catch (error) {
      failures.push({ kind, error })
    }
  }
  const parts = Array.from(kinds, kind => {
    if (kind === 'tools') return [read(kind, 'tools', () => client.tools(options))]
    if (kind === 'prompts') return [read(kind, 'prompts', () => client.prompts(options))]
    return [
      read(kind, 'resources', () => client.resources(options)),
      read(kind, 'templates', () => client.resourceTemplates(options)),
    ]
  })
  await Promise.all(parts.flat())
  return { lists, failures }
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

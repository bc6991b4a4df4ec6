import type { Client } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'

/** What a server offers, as it says itself. */
export interface Lists {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
}

/** Stands for what has not been read: its members are told from empty lists by being these. */
export const noLists: Lists = { tools: [], prompts: [], resources: [], templates: [] }

/** The lists that are told of together when they change. */
export type ListKind = 'tools' | 'prompts' | 'resources'

export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources']

/** What could be read of the lists of a server, and why the rest could not. */
export interface ReadLists {
  readonly lists: Partial<Lists>
  readonly failures: readonly { readonly kind: ListKind; readonly error: unknown }[]
}

/**
 * Reads some of the lists of a server, to the end. One that the server has not declared is empty, and so
 * is one that it declares and then does not know. One that cannot be read takes none of the others away.
 * Never rejects.
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
      // The check: the entries of a list make up the list.
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

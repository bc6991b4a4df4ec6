import type { Client } from '../client/client.ts'
import { RpcError } from '../jsonrpc/error.ts'
import type { Prompt } from '../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../mcp/types/resources.ts'
import type { Tool } from '../mcp/types/tools.ts'
import { limits } from '../util/limits.ts'

/** What a server offers, as it says itself. */
export interface Lists {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
}

export const noLists: Lists = { tools: [], prompts: [], resources: [], templates: [] }

/** The lists that are told of together when they change. */
export type ListKind = 'tools' | 'prompts' | 'resources'

export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources']

/**
 * Reads some of the lists of a server, to the end. One that the server has not declared is empty, and so
 * is one that it declares and then does not know. Rejects as requests do.
 */
export async function readLists(
  client: Client,
  kinds: Iterable<ListKind>,
  timeoutMs: number,
): Promise<Partial<Lists>> {
  const { capabilities } = client.server
  const options = { timeoutMs, fresh: true }
  const parts = Array.from(kinds, async (kind): Promise<Partial<Lists>> => {
    const isOffered = capabilities[kind] !== undefined
    if (kind === 'tools') return { tools: isOffered ? await all(client.tools(options)) : [] }
    if (kind === 'prompts') return { prompts: isOffered ? await all(client.prompts(options)) : [] }
    if (!isOffered) return { resources: [], templates: [] }
    const [resources, templates] = await Promise.all([
      all(client.resources(options)),
      all(client.resourceTemplates(options)),
    ])
    return { resources, templates }
  })
  return Object.assign({}, ...(await Promise.all(parts)))
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

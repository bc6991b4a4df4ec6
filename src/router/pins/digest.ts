import type { Tool } from '../../mcp/types/tool.ts'
import { canonicalJson } from '../../server/crypto/canonical-json.ts'

/** The members of a tool that its pin covers: all that a model or a person goes by. */
export const pinnedMembers = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
] as const satisfies readonly (keyof Tool)[]

export type PinnedMember = (typeof pinnedMembers)[number]

/**
 * What a pin covers of a tool, as text: canonical JSON, in which the order of members has no say.
 * Throws a TypeError for a definition that is no JSON, or nested beyond 128 levels.
 */
export function definitionOf(tool: Tool): string {
  return canonicalJson(Object.fromEntries(pinnedMembers.map(member => [member, tool[member]])))
}

/**
 * The digest of one tool of a server, by its definition, as 64 hexadecimal digits: SHA-256 of the
 * server's name and the definition, after words that keep it apart from digests of anything else.
 */
export async function digestOf(server: string, definition: string): Promise<string> {
  const text = `trunkline tool 1\n${JSON.stringify(server)}\n${definition}`
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(hash), byte => byte.toString(16).padStart(2, '0')).join('')
}

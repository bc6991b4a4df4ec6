import type { Tool } from '../../mcp/types/tools.ts'
import { canonicalJson } from '../../util/crypto/canonical-json.ts'
import { isRecord } from '../../util/objects.ts'

/** The members of a tool that its pin covers: everything that a model or a person relies on. */
export const pinnedMembers = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
] as const satisfies readonly (keyof Tool)[]

/** A member of a tool that its pin covers. */
export type PinnedMember = (typeof pinnedMembers)[number]

/**
 * Returns the pinned members of a tool as canonical JSON, independent of member order. Throws a
 * TypeError for a definition that is not valid JSON or nested more than 128 levels deep.
 */
export function definitionOf(tool: Tool): string {
  return canonicalJson(Object.fromEntries(pinnedMembers.map(member => [member, tool[member]])))
}

/**
 * Returns the digest of a tool definition as 64 hexadecimal digits: SHA-256 of the server name and the
 * definition, with a domain-separation prefix.
 */
export async function digestOf(server: string, definition: string): Promise<string> {
  const text = `trunkline tool 1\n${JSON.stringify(server)}\n${definition}`
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(hash), byte => byte.toString(16).padStart(2, '0')).join('')
}

/** One pin in a pin file. */
export interface PinRecord {
  /** The name of the server that has the tool. */
  readonly server: string
  /** The name of the tool on that server. */
  readonly tool: string
  /** The digest of the definition, which changes with every change of it. */
  readonly digest: string
  /** The pinned members of the tool as canonical JSON. */
  readonly definition: string
}

/** The contents of a pin file: plain JSON in a deterministic order. */
export interface PinFile {
  readonly version: 1
  /** The pinned definitions. */
  readonly pins: readonly PinRecord[]
  /** Changed definitions that wait for approval, for readers of the file. */
  readonly changes?: readonly PinRecord[]
}

/** Reads a pin file. Rejects with a TypeError if it is invalid or a digest does not match its definition. */
export async function readPins(file: unknown): Promise<Required<Omit<PinFile, 'version'>>> {
  if (!isRecord(file) || file.version !== 1 || !Array.isArray(file.pins)) {
    throw new TypeError('not a pin file: "version": 1 and an array "pins" are required')
  }
  const pins = readRecords('pins', file.pins)
  const changes = readRecords('changes', file.changes)
  await Promise.all([...pins, ...changes].map(checkDigest))
  return { pins, changes }
}

/** Returns one record per tool of every server, in a deterministic order. */
export function records<T>(
  servers: ReadonlyMap<string, ReadonlyMap<string, T>>,
  pinOf: (kept: T) => Pick<PinRecord, 'digest' | 'definition'>,
): readonly PinRecord[] {
  const all = Array.from(servers, ([server, tools]) =>
    Array.from(tools, ([tool, kept]) => {
      const { digest, definition } = pinOf(kept)
      return { server, tool, digest, definition }
    }),
  ).flat()
  return all.sort((a, b) => compare(a.server, b.server) || compare(a.tool, b.tool))
}

function readRecords(name: string, given: unknown): readonly PinRecord[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : []
  return list.map((pin, at) => {
    if (isPin(pin)) return pin
    const needed = '"server", "tool", "digest" and "definition"'
    throw new TypeError(`${name}[${at}] must have the strings ${needed}`)
  })
}

async function checkDigest({ server, tool, digest, definition }: PinRecord): Promise<void> {
  if (digest === (await digestOf(server, definition))) return
  const what = `the pin of tool "${tool}" of server "${server}"`
  throw new TypeError(
    `${what} was edited: its digest does not match; remove the pin to pin the tool again`,
  )
}

function isPin(pin: unknown): pin is PinRecord {
  if (!isRecord(pin)) return false
  return ['server', 'tool', 'digest', 'definition'].every(name => typeof pin[name] === 'string')
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

import type { Revision } from '../../mcp/revisions/revisions.ts'
import { revisionNamed } from '../../mcp/revisions/revisions.ts'
import type { ServerCapabilities } from '../../mcp/types/base.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { checkEntries } from './entry-check.ts'
import { listNames } from './list-names.ts'
import { type Lists, noLists } from './lists.ts'

/** What a server listed when it last ran, and what it said about itself. */
export interface RememberedServer {
  /** The protocol revision that was negotiated with the server. */
  readonly revision: Revision
  /** The features that the server had declared. */
  readonly capabilities: ServerCapabilities
  /** What the server listed. Members of `noLists` stand for lists that could not be read. */
  readonly lists: Lists
}

/** Remembered lists as JSON. */
export interface RememberedListsFile {
  readonly version: 1
  /** The remembered servers, by name. */
  readonly servers: Readonly<Record<string, unknown>>
}

/**
 * The lists of servers from an earlier run, so that a router can answer before its servers have started.
 * It holds what servers list, and no values of environment variables or headers.
 */
export class RememberedLists {
  /** The least recently used first. */
  readonly #servers = new Map<string, RememberedServer>()

  /** Returns what is remembered under a key. */
  get(key: string): RememberedServer | undefined {
    const found = this.#servers.get(key)
    if (found !== undefined) {
      this.#servers.delete(key)
      this.#servers.set(key, found)
    }
    return found
  }

  /**
   * Remembers a server; returns whether that is anything new. Beyond `rememberedServers` the least recently
   * used one is dropped.
   */
  set(key: string, server: RememberedServer): boolean {
    const before = this.#servers.get(key)
    this.#servers.delete(key)
    this.#servers.set(key, server)
    for (const oldest of this.#servers.keys()) {
      if (this.#servers.size <= limits.rememberedServers.default) break
      this.#servers.delete(oldest)
    }
    return before === undefined || !isSame(before, server)
  }

  /**
   * Adds the servers of a file, except those that are remembered already and those that `isWanted` refuses.
   * Throws a TypeError for another kind of file.
   */
  import(file: unknown, isWanted: (key: string) => boolean = () => true): void {
    if (!isListsFile(file)) throw new TypeError('not a file of remembered lists')
    const own = [...this.#servers]
    for (const [key, value] of Object.entries(file.servers)) {
      const server = isWanted(key) ? serverIn(value) : undefined
      if (server !== undefined) this.set(key, server)
    }
    for (const [key, server] of own) this.set(key, server)
  }

  /** Returns everything, in a form for `JSON.stringify`. */
  export(): RememberedListsFile {
    const servers = Array.from(this.#servers, ([key, { revision, capabilities, lists }]) => {
      const read = listNames.filter(list => lists[list] !== noLists[list])
      const listed = Object.fromEntries(read.map(list => [list, lists[list]]))
      return [key, { revision: revision.name, capabilities, lists: listed }] as const
    })
    return { version: 1, servers: Object.fromEntries(servers) }
  }
}

/** Reads an entry of a file; undefined if it is not valid. */
function serverIn(value: unknown): RememberedServer | undefined {
  if (!isRecord(value) || !isRecord(value.lists) || !isRecord(value.capabilities)) return undefined
  const revision = typeof value.revision === 'string' ? revisionNamed(value.revision) : undefined
  if (revision === undefined) return undefined
  const { lists } = value
  if (!Object.values(lists).every(list => Array.isArray(list))) return undefined
  const valid = <K extends keyof Lists>(member: K): Lists[K] => {
    const list = lists[member]
    if (list === undefined) return noLists[member]
    // The check: an array, whose entries `checkEntries` has checked.
    return checkEntries(member, list as unknown[]).valid as Lists[K]
  }
  return {
    revision,
    capabilities: value.capabilities,
    lists: {
      tools: valid('tools'),
      prompts: valid('prompts'),
      resources: valid('resources'),
      templates: valid('templates'),
      skills: valid('skills'),
    },
  }
}

function isSame(one: RememberedServer, other: RememberedServer): boolean {
  // Lists that say the same as before mostly are the same objects.
  const isKept = listNames.every(list => one.lists[list] === other.lists[list])
  const { lists: _, ...about } = one
  const { lists: __, ...otherAbout } = other
  if (JSON.stringify(about) !== JSON.stringify(otherAbout)) return false
  return isKept || JSON.stringify(one.lists) === JSON.stringify(other.lists)
}

/** Whether a value is a file of remembered lists. Its servers are not checked. */
export function isListsFile(file: unknown): file is RememberedListsFile {
  return isRecord(file) && file.version === 1 && isRecord(file.servers)
}

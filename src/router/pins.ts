import type { Tool } from '../mcp/types/tool.ts'
import { limits } from '../util/limits.ts'
import { isRecord } from '../util/record.ts'
import { changeLines, countInvisible, describeChange } from './pin-diff.ts'
import { definitionOf, digestOf, type PinnedMember, pinnedMembers } from './pin-digest.ts'

/** A tool whose definition is not the one it was pinned with. */
export interface PinChange {
  readonly server: string
  readonly tool: string
  /** The members that differ. */
  readonly changed: readonly PinnedMember[]
  /** What differs, in one line for people. */
  readonly diff: string
  /** How many characters of the name, title and description cannot be seen. */
  readonly invisible: number
  /** The digest it is pinned with; none where there was no room to pin it. */
  readonly pinned?: string
  /** The digest of what was seen. Approving it takes exactly this one. */
  readonly seen: string
}

/** What a list of tools was, compared with what is pinned. */
export interface PinReport {
  /** Tools that were not known; they are pinned now. */
  readonly added: readonly string[]
  readonly changes: readonly PinChange[]
}

/** One pin, as it is kept in a file. */
export interface PinRecord {
  readonly server: string
  readonly tool: string
  readonly digest: string
  /** Canonical JSON. */
  readonly definition: string
}

/** All pins, as they are kept in a file: plain JSON, in an order that does not depend on chance. */
export interface PinFile {
  readonly version: 1
  readonly pins: readonly PinRecord[]
  /** What was seen otherwise and nobody has approved, for whoever looks at the file. */
  readonly changes?: readonly PinRecord[]
}

/** What is taken over from a file. */
export interface PinImport {
  /** Whether what waits for approval is taken over too: to approve it elsewhere than where it was seen. */
  readonly changes?: boolean
}

/**
 * Remembers how tools were defined when they were first seen, and tells when one is defined otherwise.
 *
 * A changed tool stays changed until somebody approves what was seen, or dismisses it:
 * that an instance shows the old definition again says nothing about the others. A tool that is no
 * longer listed stays pinned, so that it cannot come back as another.
 */
export class Pins {
  readonly #most: number
  readonly #servers = new Map<string, Map<string, Pin>>()
  readonly #changes = new Map<string, Map<string, Seen>>()
  /** Of tools that were looked at, as long as anybody has them: lists are looked at again and again. */
  readonly #definitions = new WeakMap<Tool, string>()

  /** Pins at most so many tools of one server; a further one counts as changed until it is approved. */
  constructor(maxTools: number = limits.pinnedTools.default) {
    this.#most = maxTools
  }

  /**
   * Compares the tools that one instance of a server lists with what is pinned, and pins those that are
   * new. Their order has no say. Rejects with a TypeError for a definition that is no JSON.
   */
  async check(server: string, tools: readonly Tool[]): Promise<PinReport> {
    const listed = tools.map(tool => ({ name: tool.name, definition: this.#definitionOf(tool) }))
    const other = listed.filter(one => this.#pinOf(server, one.name)?.definition !== one.definition)
    const seen = await Promise.all(
      other.map(async one => ({ ...one, digest: await digestOf(server, one.definition) })),
    )
    const added: string[] = []
    const changes: PinChange[] = []
    // From here on without a pause, and in the order of the list: which of two definitions is pinned,
    // and which tools have room, is not left to chance.
    for (const { name, definition, digest } of seen) {
      const pin = this.#pinOf(server, name)
      if (pin?.definition === definition) continue
      if (pin === undefined && this.#hasRoom(server)) {
        this.#set(server, name, { definition, digest })
        added.push(name)
      } else changes.push(this.#remember(server, name, { definition, digest }))
    }
    return { added, changes }
  }

  /**
   * Why a tool, as it is listed here, is not to be called: in one line, or undefined where it may be.
   * Known at once, so that a list can be shown before `check` has looked at it: what is not as pinned is
   * refused already, and what was never seen is let through if there is room to pin it.
   */
  whyBlocked(server: string, tool: Tool): string | undefined {
    const change = this.changeOf(server, tool.name)
    if (change !== undefined) return `its definition has changed: ${change.diff}`
    const pin = this.#pinOf(server, tool.name)
    if (pin !== undefined) {
      return pin.definition === this.#definitionOf(tool) ? undefined : 'its definition has changed'
    }
    return this.#hasRoom(server) ? undefined : 'there is no room to pin its definition'
  }

  /** The change of a tool that waits to be approved; undefined where there is none. */
  changeOf(server: string, tool: string): PinChange | undefined {
    return this.#changes.get(server)?.get(tool)?.change
  }

  /** All that differs in a tool that waits to be approved, one line each, for people who look at it. */
  differences(server: string, tool: string): readonly string[] {
    const seen = this.#changes.get(server)?.get(tool)
    if (seen === undefined) return []
    const pin = this.#pinOf(server, tool)
    return changeLines(
      pin === undefined ? {} : membersIn(pin.definition),
      membersIn(seen.definition),
    )
  }

  /** All changes that wait to be approved. */
  changes(): readonly PinChange[] {
    return Array.from(this.#changes.values(), seen =>
      Array.from(seen.values(), one => one.change),
    ).flat()
  }

  /**
   * Pins a changed tool as it was seen. The digest is that of the change that somebody looked at: if it
   * has changed again since, or there is no change, this throws an Error and nothing is approved.
   */
  approve(server: string, tool: string, digest: string): void {
    const seen = this.#changes.get(server)?.get(tool)
    if (seen === undefined) {
      throw new Error(`the tool "${tool}" of "${server}" has no change to approve`)
    }
    if (seen.change.seen !== digest) {
      throw new Error(`the tool "${tool}" of "${server}" has changed again; look at it once more`)
    }
    this.#set(server, tool, { definition: seen.definition, digest })
    this.dismiss(server, tool)
  }

  /** Forgets a change and keeps the pin, once what was seen is gone. Seen again, it is a change again. */
  dismiss(server: string, tool: string): void {
    const changes = this.#changes.get(server)
    changes?.delete(tool)
    if (changes?.size === 0) this.#changes.delete(server)
  }

  /** Forgets everything about a server; its tools are pinned anew when they are next seen. */
  forget(server: string): void {
    this.#servers.delete(server)
    this.#changes.delete(server)
  }

  /** Everything that is pinned, and apart from it what waits for approval. */
  export(): PinFile {
    const pins = records(this.#servers, pin => pin)
    const changes = records(this.#changes, ({ change, definition }) => {
      return { digest: change.seen, definition }
    })
    return changes.length === 0 ? { version: 1, pins } : { version: 1, pins, changes }
  }

  /**
   * Takes over pins from a file, beside those that are there; the file wins, and a change that it pins
   * is approved with that. Gives those whose pins are others now. Rejects with a TypeError, having
   * taken nothing, where it is none or a digest does not belong to its definition.
   */
  async import(file: unknown, options: PinImport = {}): Promise<readonly PinRecord[]> {
    const { pins, changes } = readFile(file)
    await Promise.all([...pins, ...changes].map(checkDigest))
    const other = pins.filter(
      ({ server, tool, digest }) => this.#pinOf(server, tool)?.digest !== digest,
    )
    for (const { server, tool, digest, definition } of other) {
      this.#set(server, tool, { digest, definition })
      const seen = this.#changes.get(server)?.get(tool)
      if (seen === undefined) continue
      if (seen.change.seen === digest) this.dismiss(server, tool)
      else this.#remember(server, tool, { digest: seen.change.seen, definition: seen.definition })
    }
    for (const { server, tool, ...seen } of options.changes === true ? changes : []) {
      if (this.#pinOf(server, tool)?.digest !== seen.digest) this.#remember(server, tool, seen)
    }
    return other
  }

  #definitionOf(tool: Tool): string {
    const known = this.#definitions.get(tool)
    if (known !== undefined) return known
    const definition = definitionOf(tool)
    this.#definitions.set(tool, definition)
    return definition
  }

  #pinOf(server: string, tool: string): Pin | undefined {
    return this.#servers.get(server)?.get(tool)
  }

  #hasRoom(server: string): boolean {
    return (this.#servers.get(server)?.size ?? 0) < this.#most
  }

  #set(server: string, tool: string, pin: Pin): void {
    const tools = this.#servers.get(server)
    if (tools === undefined) this.#servers.set(server, new Map([[tool, pin]]))
    else tools.set(tool, pin)
  }

  #remember(server: string, tool: string, seen: Pin): PinChange {
    const change = changeBetween(server, tool, this.#pinOf(server, tool), seen)
    const changes = this.#changes.get(server) ?? new Map<string, Seen>()
    this.#changes.set(server, changes)
    // No more than can be pinned: names that nobody knows must not fill the memory.
    if (changes.has(tool) || changes.size < this.#most) {
      changes.set(tool, { change, definition: seen.definition })
    }
    return change
  }
}

interface Pin {
  readonly digest: string
  readonly definition: string
}

interface Seen {
  readonly change: PinChange
  readonly definition: string
}

function changeBetween(server: string, tool: string, pin: Pin | undefined, seen: Pin): PinChange {
  const before = pin === undefined ? {} : membersIn(pin.definition)
  const after = membersIn(seen.definition)
  const differs = (member: PinnedMember) =>
    JSON.stringify(before[member]) !== JSON.stringify(after[member])
  const texts = [after.name, after.title, after.description]
  const text = texts.filter(item => typeof item === 'string').join('')
  const isNew = 'new, and there is no room to pin it'
  return {
    server,
    tool,
    changed: pinnedMembers.filter(differs),
    diff: pin === undefined ? isNew : describeChange(before, after),
    invisible: countInvisible(text),
    pinned: pin?.digest,
    seen: seen.digest,
  }
}

/** The check: a definition is what `definitionOf` wrote, or was imported with its digest. */
function membersIn(definition: string): Readonly<Partial<Record<PinnedMember, unknown>>> {
  const members: unknown = JSON.parse(definition)
  return isRecord(members) ? members : {}
}

/** What is kept of the tools of every server, in an order that does not depend on chance. */
function records<T>(
  servers: ReadonlyMap<string, ReadonlyMap<string, T>>,
  pinOf: (kept: T) => Pin,
): readonly PinRecord[] {
  const all = Array.from(servers, ([server, tools]) =>
    Array.from(tools, ([tool, kept]) => {
      const { digest, definition } = pinOf(kept)
      return { server, tool, digest, definition }
    }),
  ).flat()
  return all.sort((a, b) => compare(a.server, b.server) || compare(a.tool, b.tool))
}

function readFile(file: unknown): Required<Pick<PinFile, 'pins' | 'changes'>> {
  if (!isRecord(file) || file.version !== 1 || !Array.isArray(file.pins)) {
    throw new TypeError('this is no file of pins: it needs "version": 1 and a list "pins"')
  }
  return { pins: readRecords('pins', file.pins), changes: readRecords('changes', file.changes) }
}

function readRecords(name: string, given: unknown): readonly PinRecord[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : []
  return list.map((pin, at) => {
    if (isPin(pin)) return pin
    const needed = '"server", "tool", "digest" and "definition"'
    throw new TypeError(`${name}[${at}] needs the texts ${needed}`)
  })
}

async function checkDigest({ server, tool, digest, definition }: PinRecord): Promise<void> {
  if (digest === (await digestOf(server, definition))) return
  const what = `the pin of the tool "${tool}" of "${server}"`
  throw new TypeError(`${what} was edited: its digest is another; remove it to pin the tool anew`)
}

function isPin(pin: unknown): pin is PinRecord {
  if (!isRecord(pin)) return false
  return ['server', 'tool', 'digest', 'definition'].every(name => typeof pin[name] === 'string')
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

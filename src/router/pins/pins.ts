import type { Tool } from '../../mcp/types/tool.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import { changeLines, countInvisible, describeChange } from './diff.ts'
import { definitionOf, digestOf, type PinnedMember, pinnedMembers } from './digest.ts'
import { type PinFile, type PinRecord, readPins, records } from './records.ts'

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

/** What is taken over from a file. */
export interface PinImport {
  /** Whether what waits for approval is taken over too: to approve it elsewhere than where it was seen. */
  readonly changes?: boolean
  /** Pins that somebody has taken out of the file, which are forgotten here too. */
  readonly removed?: readonly Pick<PinRecord, 'server' | 'tool'>[]
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

  /**
   * Forgets everything about a server, or about one of its tools; what is forgotten is pinned anew when it
   * is next seen, whatever it is then.
   */
  forget(server: string, tool?: string): void {
    for (const kept of [this.#servers, this.#changes]) {
      const tools: Map<string, unknown> | undefined = kept.get(server)
      if (tool !== undefined) tools?.delete(tool)
      if (tool === undefined || tools?.size === 0) kept.delete(server)
    }
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
    const { pins, changes } = await readPins(file)
    for (const { server, tool } of options.removed ?? []) this.forget(server, tool)
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

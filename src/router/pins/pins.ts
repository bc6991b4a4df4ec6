import type { Tool } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { changeLines, countInvisible, describeChange } from './diff.ts'
import {
  definitionOf,
  digestOf,
  type PinFile,
  type PinnedMember,
  type PinRecord,
  pinnedMembers,
  readPins,
  records,
} from './records.ts'

/** A tool whose definition differs from the pinned one. */
export interface PinChange {
  /** The name of the server that has the tool. */
  readonly server: string
  /** The name of the tool on that server. */
  readonly tool: string
  /** The members of the definition that differ. */
  readonly changed: readonly PinnedMember[]
  /** The differences in one line. */
  readonly diff: string
  /** Number of invisible characters in name, title and description. */
  readonly invisible: number
  /** The pinned digest; undefined if the pin limit was reached before the tool was pinned. */
  readonly pinned?: string
  /** The digest of the changed definition; `approve` requires exactly this digest. */
  readonly seen: string
}

/** The result of comparing a list of tools with the pins. */
export interface PinReport {
  /** Names of tools that were unknown and are pinned now. */
  readonly added: readonly string[]
  /** The tools that differ from their pins. */
  readonly changes: readonly PinChange[]
}

/** Options of {@link Pins.import}. */
export interface PinImportOptions {
  /** Whether to import pending changes too, to approve them in another process than the one that saw them. */
  readonly changes?: boolean
  /** Pins that were removed from the file and are to be forgotten. */
  readonly removed?: readonly Pick<PinRecord, 'server' | 'tool'>[]
}

/**
 * Stores the definition of each tool on first use and detects later changes.
 *
 * A changed tool stays changed until the change is approved or dismissed: that one instance lists the
 * pinned definition again says nothing about the other instances. A tool that is no longer listed stays
 * pinned, so that it cannot return with another definition unnoticed.
 */
export class Pins {
  readonly #maxTools: number
  readonly #servers = new Map<string, Map<string, Pin>>()
  readonly #changes = new Map<string, Map<string, Seen>>()
  /** Caches the canonical definition of each tool object, because lists are checked repeatedly. */
  readonly #definitions = new WeakMap<Tool, string>()

  /** Pins at most `maxTools` tools per server; a further tool counts as changed until it is approved. */
  constructor(maxTools: number = limits.pinnedTools.default) {
    this.#maxTools = maxTools
  }

  /**
   * Compares the tools that one instance of a server lists with the pins, and pins new tools. The order
   * of the tools is irrelevant. Rejects with a TypeError for a definition that is not valid JSON.
   */
  async check(server: string, tools: readonly Tool[]): Promise<PinReport> {
    const listed = tools.map(tool => ({ name: tool.name, definition: this.#definitionOf(tool) }))
    const differing = listed.filter(
      one => this.#pinOf(server, one.name)?.definition !== one.definition,
    )
    const seen = await Promise.all(
      differing.map(async one => ({ ...one, digest: await digestOf(server, one.definition) })),
    )
    const added: string[] = []
    const changes: PinChange[] = []
    // Synchronous from here on and in list order, so that it is deterministic which of two definitions
    // is pinned and which tools fit within the limit.
    for (const { name, definition, digest } of seen) {
      const pin = this.#pinOf(server, name)
      if (pin?.definition === definition) continue
      if (pin === undefined && this.#hasCapacity(server)) {
        this.#set(server, name, { definition, digest })
        added.push(name)
      } else changes.push(this.#remember(server, name, { definition, digest }))
    }
    return { added, changes }
  }

  /**
   * Returns why a listed tool must not be called, in one line; undefined if it may be called. The answer
   * is synchronous, so that a list can be used before `check` has finished: a tool that differs from its
   * pin is blocked already, and an unknown tool passes if the pin limit allows it.
   */
  whyBlocked(server: string, tool: Tool): string | undefined {
    const change = this.changeOf(server, tool.name)
    if (change !== undefined) return `its definition has changed: ${change.diff}`
    const pin = this.#pinOf(server, tool.name)
    if (pin !== undefined) {
      return pin.definition === this.#definitionOf(tool) ? undefined : 'its definition has changed'
    }
    return this.#hasCapacity(server) ? undefined : 'the limit of pinned tools is reached'
  }

  /** Returns the pending change of a tool; undefined if there is none. */
  changeOf(server: string, tool: string): PinChange | undefined {
    return this.#changes.get(server)?.get(tool)?.change
  }

  /** Returns all differences of a pending change, one line each, for review. */
  differences(server: string, tool: string): readonly string[] {
    const seen = this.#changes.get(server)?.get(tool)
    if (seen === undefined) return []
    const pin = this.#pinOf(server, tool)
    return changeLines(
      pin === undefined ? {} : membersIn(pin.definition),
      membersIn(seen.definition),
    )
  }

  /** Returns all pending changes. */
  changes(): readonly PinChange[] {
    return Array.from(this.#changes.values(), seen =>
      Array.from(seen.values(), one => one.change),
    ).flat()
  }

  /**
   * Approves a pending change and pins the changed definition. `digest` identifies the change that was
   * reviewed: throws an Error, and approves nothing, if the tool has changed again since or has no
   * pending change.
   */
  approve(server: string, tool: string, digest: string): void {
    const seen = this.#changes.get(server)?.get(tool)
    if (seen === undefined) {
      throw new Error(`tool "${tool}" of server "${server}" has no pending change`)
    }
    if (seen.change.seen !== digest) {
      throw new Error(`tool "${tool}" of server "${server}" has changed again; review it again`)
    }
    this.#set(server, tool, { definition: seen.definition, digest })
    this.dismiss(server, tool)
  }

  /** Discards a pending change and keeps the pin. If the definition is seen again, it is a change again. */
  dismiss(server: string, tool: string): void {
    const changes = this.#changes.get(server)
    changes?.delete(tool)
    if (changes?.size === 0) this.#changes.delete(server)
  }

  /**
   * Removes all pins and pending changes of a server, or of one of its tools. The next definition that is
   * seen is pinned.
   */
  forget(server: string, tool?: string): void {
    for (const kept of [this.#servers, this.#changes]) {
      const tools: Map<string, unknown> | undefined = kept.get(server)
      if (tool !== undefined) tools?.delete(tool)
      if (tool === undefined || tools?.size === 0) kept.delete(server)
    }
  }

  /** Exports all pins and, separately, the pending changes. */
  export(): PinFile {
    const pins = records(this.#servers, pin => pin)
    const changes = records(this.#changes, ({ change, definition }) => {
      return { digest: change.seen, definition }
    })
    return changes.length === 0 ? { version: 1, pins } : { version: 1, pins, changes }
  }

  /**
   * Adds the pins of a file to the present ones. The file takes precedence, and a pending change that the
   * file pins is approved by that. Resolves with the pins that changed. Rejects with a TypeError, and
   * imports nothing, if the file is invalid or a digest does not match its definition.
   */
  async import(file: unknown, options: PinImportOptions = {}): Promise<readonly PinRecord[]> {
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

  #hasCapacity(server: string): boolean {
    return (this.#servers.get(server)?.size ?? 0) < this.#maxTools
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
    // At most as many as can be pinned, so that made-up tool names cannot exhaust memory.
    if (changes.has(tool) || changes.size < this.#maxTools) {
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
  const isNew = 'new, but the limit of pinned tools is reached'
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

import { invisible } from '../../mcp/names.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ToolRules } from '../options.ts'
import { shortHash } from '../policy/hash.ts'
import { matcher } from './glob.ts'

/** A server with the tools, or prompts, that it lists, and what callers see of them. */
export interface Exposing<T> {
  readonly name: string
  /** In front of the names: a text, or `false` for none. By default `name__`. */
  readonly prefix?: string | false
  readonly rules?: Pick<ToolRules, 'allow' | 'deny' | 'rename'>
  /** In the order in which the server lists them. */
  readonly tools: readonly T[]
}

/** One tool as callers see it. */
export interface Exposed<T> {
  readonly exposedName: string
  /** The name of the server that has it. */
  readonly server: string
  readonly tool: T
}

/** One tool that callers do not see, and why. */
export interface Hidden<T> {
  readonly server: string
  readonly tool: T
  /** For the operator, in one line. */
  readonly why: string
}

/** What callers see of all servers together. */
export interface Exposure<T> {
  /** In the order of the servers, and of the list of each. */
  readonly entries: readonly Exposed<T>[]
  readonly hidden: readonly Hidden<T>[]
  /** The same entries by the names that callers use: the way back from a call. */
  readonly byName: ReadonlyMap<string, Exposed<T>>
}

/**
 * Gives every tool the name that callers see: its own or another (`rename`), with the prefix of its
 * server in front. A name that not every client takes (longer than 64 characters, or with others than
 * `A–Z a–z 0–9 _ - .`) is shortened or cleaned, and ends with a hash, the same each time.
 *
 * Where two would have the same name the first keeps it, by the order of the servers and then of their
 * lists, and the other is hidden. So what stands further down never changes the names further up.
 */
export function exposeTools<T extends { readonly name: string }>(
  servers: readonly Exposing<T>[],
): Exposure<T> {
  const byName = new Map<string, Exposed<T>>()
  const hidden: Hidden<T>[] = []
  for (const { name: server, prefix, rules, tools } of servers) {
    const whyHidden = toolFilter(rules)
    const rename = new Map(Object.entries(rules?.rename ?? {}))
    const front = prefixOf(server, prefix)
    for (const tool of tools) {
      const exposedName = exposedNameOf(server, front, rename.get(tool.name) ?? tool.name)
      const why = whyHidden(tool.name) ?? conflict(exposedName, server, tool, byName)
      if (why === undefined) byName.set(exposedName, { exposedName, server, tool })
      else hidden.push({ server, tool, why })
    }
  }
  return { entries: [...byName.values()], hidden, byName }
}

/**
 * Makes what says why callers neither see nor may call a tool, by the name that its server gives it;
 * undefined where they may. Lists and calls are to be decided by the same one.
 */
export function toolFilter(
  rules: Pick<ToolRules, 'allow' | 'deny'> = {},
): (tool: string) => string | undefined {
  const isAllowed = rules.allow === undefined ? undefined : matcher(rules.allow)
  const isDenied = matcher(rules.deny ?? [])
  return tool => {
    if (tool === '') return 'it has no name'
    // Two names that look the same must be the same.
    if (invisible.test(tool)) return 'its name holds a character that cannot be seen'
    if (isDenied(tool)) return denied
    return isAllowed?.(tool) === false ? notAllowed : undefined
  }
}

const denied = 'it is denied'
const notAllowed = 'it is not among the allowed'

/** Whether a tool that is not shown is kept back because the operator said so. */
export function isKeptBack(why: string): boolean {
  return why === denied || why === notAllowed
}

/** What stands in front of the names of a server's tools and prompts. */
export function prefixOf(server: string, prefix?: string | false): string {
  return prefix === false ? '' : (prefix ?? `${server}__`)
}

/**
 * The name under which callers see a tool whose name, renamed or not, this is. It depends on nothing
 * but what is passed, so it is the same in every process.
 */
export function exposedNameOf(server: string, prefix: string, name: string): string {
  const full = prefix + name
  if (full.length <= longest && safe.test(full)) return full
  // A long prefix must not push the name out: it keeps 24 characters, or what the name leaves.
  const room = longest - hashLength - 1
  const front = prefix.slice(0, Math.max(24, room - name.length))
  const kept = (front + name).slice(0, room).replace(foreign, '_')
  // Lengths first: without them a server "a" with "b__c" and "a__b" with "c" would hash the same.
  return `${kept}_${shortHash(`${server.length} ${prefix.length} ${server} ${full}`)}`
}

/**
 * Why a server cannot have this name, as a sentence that says what to do; undefined where it can.
 */
export function checkServerName(name: string): string | undefined {
  const most = limits.serverNameLength.default
  if (name === '') return `a server needs a name, of 1 to ${most} characters`
  if (name.length > most) {
    return `the name of the server "${name.slice(0, 20)}…" has ${name.length} characters: use ${most} at most`
  }
  return checkCharacters(`the name of the server ${JSON.stringify(name)}`, name)
}

/** Why a prefix cannot be used, as a sentence that says what to do; undefined where it can. */
export function checkPrefix(prefix: string): string | undefined {
  const most = limits.exposedNameLength.default / 2
  if (prefix.length > most) {
    return `the prefix "${prefix.slice(0, 20)}…" has ${prefix.length} characters: use ${most} at most`
  }
  return checkCharacters(`the prefix ${JSON.stringify(prefix)}`, prefix)
}

const longest = limits.exposedNameLength.default
const hashLength = shortHash('').length
const safe = /^[A-Za-z0-9_.-]+$/
const foreign = /[^A-Za-z0-9_.-]/g

function checkCharacters(what: string, text: string): string | undefined {
  const other = /[^A-Za-z0-9_.-]/u.exec(text)?.[0]
  if (other === undefined) return undefined
  const shown = invisible.test(other) ? `U+${hex(other)}` : JSON.stringify(other)
  return `${what} holds ${shown}: use letters (A–Z, a–z), digits, "_", "-" and "." only`
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}

function conflict<T extends { readonly name: string }>(
  exposedName: string,
  server: string,
  tool: T,
  byName: ReadonlyMap<string, Exposed<T>>,
): string | undefined {
  const holder = byName.get(exposedName)
  if (holder === undefined) return undefined
  if (holder.server === server && holder.tool.name === tool.name) return 'its server lists it twice'
  return `the name "${exposedName}" belongs to "${holder.tool.name}" of the server "${holder.server}"`
}

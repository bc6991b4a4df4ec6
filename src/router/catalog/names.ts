import { invisible } from '../../mcp/names.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ToolRules } from '../options.ts'
import { shortHash } from '../policy/hash.ts'
import { matcher } from './glob.ts'

/** The tools, or prompts, that one server lists, with the rules for exposing them. */
export interface ServerListing<T> {
  readonly name: string
  /** Prefix of the exposed names; `false` for none. By default `name__`. */
  readonly prefix?: string | false
  readonly rules?: Pick<ToolRules, 'allow' | 'deny' | 'rename'>
  /** In the order of the server's list. */
  readonly tools: readonly T[]
}

/** A tool under the name that callers see. */
export interface Exposed<T> {
  readonly exposedName: string
  /** The name of the server that lists the tool. */
  readonly server: string
  readonly tool: T
}

/** A tool that callers do not see, and why. */
export interface Hidden<T> {
  readonly server: string
  readonly tool: T
  /** The reason in one line, for the operator. */
  readonly why: string
}

/** The tools of all servers, divided into exposed and hidden ones. */
export interface Exposure<T> {
  /** In the order of the servers and of each server's list. */
  readonly entries: readonly Exposed<T>[]
  readonly hidden: readonly Hidden<T>[]
  /** The exposed tools by exposed name, for resolving calls. */
  readonly byName: ReadonlyMap<string, Exposed<T>>
}

/**
 * Assigns every tool its exposed name: the prefix of its server, then its own or its replacement name
 * (`rename`). A name that some clients reject (longer than 64 characters, or with characters other than
 * `A–Z a–z 0–9 _ - .`) is shortened or sanitized and ends with a deterministic hash.
 *
 * If two tools would get the same name, the first keeps it, in the order of the servers and then of their
 * lists, and the other is hidden. A later server therefore never changes the names of an earlier one.
 */
export function exposeTools<T extends { readonly name: string }>(
  servers: readonly ServerListing<T>[],
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
 * Returns a function that says why a tool, given by its upstream name, is hidden from callers; undefined
 * for a tool that callers may see and call. Lists and calls must use the same filter.
 */
export function toolFilter(
  rules: Pick<ToolRules, 'allow' | 'deny'> = {},
): (tool: string) => string | undefined {
  const isAllowed = rules.allow === undefined ? undefined : matcher(rules.allow)
  const isDenied = matcher(rules.deny ?? [])
  return tool => {
    if (tool === '') return 'its name is empty'
    // Names that look the same must be the same.
    if (invisible.test(tool)) return 'its name contains an invisible character'
    if (isDenied(tool)) return denied
    return isAllowed?.(tool) === false ? notAllowed : undefined
  }
}

const denied = 'denied by tools.deny'
const notAllowed = 'not in tools.allow'

/** Whether the reason for hiding a tool is the operator's `allow` or `deny` rule. */
export function isExcludedByRules(why: string): boolean {
  return why === denied || why === notAllowed
}

/** Returns the prefix of a server's tool and prompt names. */
export function prefixOf(server: string, prefix?: string | false): string {
  return prefix === false ? '' : (prefix ?? `${server}__`)
}

/**
 * Returns the exposed name of a tool. `name` is the upstream or the replacement name. The result depends
 * only on the arguments, so it is the same in every process.
 */
export function exposedNameOf(server: string, prefix: string, name: string): string {
  const full = prefix + name
  if (full.length <= maxLength && safe.test(full)) return full
  // A long prefix must not displace the name: it is cut to what the name leaves.
  const room = maxLength - hashLength - 1
  const front = prefix.slice(0, Math.max(shortPrefix, room - name.length))
  const kept = (front + name).slice(0, room).replace(unsafe, '_')
  // Lengths first: without them a server "a" with "b__c" and "a__b" with "c" would hash the same.
  return `${kept}_${shortHash(`${server.length} ${prefix.length} ${server} ${full}`)}`
}

/** Returns whether a tool or prompt of a server can have this exposed name. */
export function mayExpose(
  server: string,
  prefix: string | false | undefined,
  name: string,
): boolean {
  return name.startsWith(prefixOf(server, prefix).slice(0, shortPrefix))
}

/** Returns why the name of a server, or a view, is invalid and what to do, as a sentence; undefined for a valid name. */
export function checkServerName(name: string, what = 'server'): string | undefined {
  const max = limits.serverNameLength.default
  if (name === '') return `a ${what} name must have 1 to ${max} characters (got an empty name)`
  if (name.length > max) {
    return `${what} name "${name.slice(0, 20)}…" must have at most ${max} characters (got ${name.length})`
  }
  return checkCharacters(`${what} name ${JSON.stringify(name)}`, name)
}

/** Returns why a prefix is invalid and what to do, as a sentence; undefined for a valid prefix. */
export function checkPrefix(prefix: string): string | undefined {
  const max = limits.exposedNameLength.default / 2
  if (prefix.length > max) {
    return `prefix "${prefix.slice(0, 20)}…" must have at most ${max} characters (got ${prefix.length})`
  }
  return checkCharacters(`prefix ${JSON.stringify(prefix)}`, prefix)
}

const maxLength = limits.exposedNameLength.default
/** The length that is left of a long prefix in a shortened name. */
const shortPrefix = 24
const hashLength = shortHash('').length
const safe = /^[A-Za-z0-9_.-]+$/
const unsafe = /[^A-Za-z0-9_.-]/g

function checkCharacters(what: string, text: string): string | undefined {
  const other = /[^A-Za-z0-9_.-]/u.exec(text)?.[0]
  if (other === undefined) return undefined
  const shown = invisible.test(other) ? `U+${hex(other)}` : JSON.stringify(other)
  return `${what} contains ${shown}; allowed are letters (A–Z, a–z), digits, "_", "-" and "."`
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
  return `the name "${exposedName}" is taken by "${holder.tool.name}" of server "${holder.server}"`
}

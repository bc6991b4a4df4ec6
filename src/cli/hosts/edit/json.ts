import { isObject } from '../../../router/config/dialects/nodes.ts'
import { type ObjectNode, readConfigText } from '../../../router/config/text.ts'
import { UsageError } from '../../exit.ts'
import type { HostEntry } from './entry.ts'
import { lineEndOf, offsetOf } from './lines.ts'

/**
 * Adds a server to a file of JSON with comments, as the first member of the object of servers. Nothing else changes:
 * {@link removeFromJson} restores the text byte for byte. An object that had to be created ends with a space, so that
 * it can be told from an empty object that was there before.
 */
export function addToJson(text: string, key: string, name: string, entry: HostEntry): string {
  const eol = lineEndOf(text)
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  '
  const block = (level: number): string =>
    `${eol}${unit.repeat(level)}${JSON.stringify(name)}: ${indented(entry, unit, level, eol)}`
  if (text.trim() === '') return `{${created(key, block(2), eol, unit)} }${eol}`
  const root = objectOf(text)
  const servers = root.members.get(key)?.value
  if (servers === undefined) return inserted(text, root, created(key, block(2), eol, unit))
  if (!isObject(servers)) throw new UsageError(`"${key}" in the file is not an object`)
  return inserted(text, servers, block(2))
}

/** Removes a server from a file of JSON with comments; undefined if it is not there. */
export function removeFromJson(text: string, key: string, name: string): string | undefined {
  if (text.trim() === '') return undefined
  const root = objectOf(text)
  const servers = root.members.get(key)?.value
  if (!isObject(servers) || !servers.members.has(name)) return undefined
  const without = withoutMember(text, servers, name)
  const next = objectOf(without)
  const left = next.members.get(key)?.value
  if (!isObject(left) || !wasCreated(without, left)) return without
  const restored = withoutMember(without, next, key)
  return wasCreated(restored, objectOf(restored)) ? '' : restored
}

/** Returns the values of a file. Throws a UsageError if it is not an object. */
export function objectOf(text: string): ObjectNode {
  const { root, issues } = readConfigText(text)
  if (isObject(root)) return root
  const [issue] = issues
  const where = issue === undefined ? '' : `:${issue.line}:${issue.column}`
  throw new UsageError(`the file is not valid${where}: ${issue?.message ?? 'it must be an object'}`)
}

function created(key: string, block: string, eol: string, unit: string): string {
  return `${eol}${unit}${JSON.stringify(key)}: {${block} }`
}

/** Inserts a member after the opening brace of an object. */
function inserted(text: string, { at, members }: ObjectNode, member: string): string {
  const start = offsetOf(text, at) + 1
  const comma = members.size === 0 ? '' : ','
  return text.slice(0, start) + member + comma + text.slice(start)
}

/** Removes a member with the space before it, and with its comma. */
function withoutMember(text: string, { members }: ObjectNode, name: string): string {
  const member = members.get(name)
  if (member === undefined) return text
  const key = offsetOf(text, member.at)
  const end = endOfValue(text, offsetOf(text, member.value.at))
  const start = text.slice(0, key).trimEnd().length
  const comma = /^\s*,/.exec(text.slice(end))?.[0].length
  if (comma !== undefined) return text.slice(0, start) + text.slice(end + comma)
  // The last member: the comma before it goes, unless there is none.
  const before = text[start - 1] === ',' ? start - 1 : start
  return text.slice(0, before) + text.slice(end)
}

/** Whether an object is empty in the way in which only this module leaves it. */
function wasCreated(text: string, { at, members }: ObjectNode): boolean {
  const start = offsetOf(text, at)
  return members.size === 0 && text.slice(start, start + 3) === '{ }'
}

/** Returns the offset after a value. The text is known to be valid. */
function endOfValue(text: string, start: number): number {
  const token = /"(?:\\.|[^"\\])*"|\/\/.*|\/\*[\s\S]*?\*\/|[{}[\]]|[^\s,{}[\]"/]+/g
  token.lastIndex = start
  let depth = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match
    if (found.startsWith('//') || found.startsWith('/*')) continue
    if (found === '{' || found === '[') depth++
    else if (found === '}' || found === ']') depth--
    if (depth === 0) return token.lastIndex
  }
  return text.length
}

function indented(entry: HostEntry, unit: string, level: number, eol: string): string {
  const lines = JSON.stringify(entry, null, unit).split('\n')
  return lines.map((line, at) => (at === 0 ? line : unit.repeat(level) + line)).join(eol)
}

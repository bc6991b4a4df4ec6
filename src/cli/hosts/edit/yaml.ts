import { isObject } from '../../../router/config/dialects/nodes.ts'
import { readYamlText } from '../../../router/config/formats/yaml.ts'
import type { ConfigNode, ObjectNode } from '../../../router/config/text.ts'
import { UsageError } from '../../exit.ts'
import type { HostEntry } from './entry.ts'
import { lineEndOf, linesOf } from './lines.ts'

/** Marks a key that was not there before, so that it can be removed with its last server. */
const mark = ' # added by trunkline install'

/**
 * Adds a server to a YAML file, as the first one of a mapping, or of a sequence whose entries have a `name`. Nothing
 * else changes: {@link removeFromYaml} restores the text byte for byte. Throws a UsageError for servers in the flow
 * style, whose lines cannot be added to.
 */
export function addToYaml(
  text: string,
  key: string,
  name: string,
  entry: HostEntry,
  isSequence: boolean,
): string {
  const eol = lineEndOf(text)
  const root = rootOf(text)
  const member = root?.members.get(key)
  if (member === undefined) {
    const block = [`${key}:${mark}`, ...entryLines(name, entry, 2, isSequence)].join(eol)
    if (text === '') return `${block}${eol}`
    return text.endsWith('\n') ? `${text}${block}${eol}` : `${text}${eol}${block}`
  }
  const lines = linesOf(text)
  const { value } = member
  const first = firstOf(value)
  const isFlow = value.type !== 'null' && (first === undefined || first.line === member.at.line)
  if (isFlow)
    throw new UsageError(
      `"${key}" in the file is written on one line; put each server on a line of its own`,
    )
  const indent = first === undefined ? 2 : first.column - 1
  const block = entryLines(
    name,
    entry,
    indent,
    value.type === 'list' || (first === undefined && isSequence),
  )
  const [above = '', ...rest] = [
    lines.slice(0, member.at.line).join(''),
    ...lines.slice(member.at.line),
  ]
  if (above.endsWith('\n')) return above + block.map(line => line + eol).join('') + rest.join('')
  return above + block.map(line => eol + line).join('')
}

/** Removes a server from a YAML file; undefined if it is not there. */
export function removeFromYaml(text: string, key: string, name: string): string | undefined {
  const member = rootOf(text)?.members.get(key)
  const found = member && startOf(member.value, name)
  if (member === undefined || found === undefined) return undefined
  const lines = linesOf(text)
  const [start, indent] = [found.line - 1, found.indent]
  let end = start + 1
  while (end < lines.length && indentOf(lines[end] ?? '') > indent) end++
  const isLast = end === lines.length
  const container = member.at.line - 1
  const isOnly = isObject(member.value)
    ? member.value.members.size === 1
    : sizeOf(member.value) === 1
  const from = isOnly && lines[container]?.trimEnd().endsWith(mark) ? container : start
  const before = lines.slice(0, from).join('')
  const kept = isLast && !text.endsWith('\n') ? before.replace(/\r?\n$/, '') : before
  return kept + lines.slice(end).join('')
}

function rootOf(text: string): ObjectNode | undefined {
  const { root, issues } = readYamlText(text)
  if (isObject(root)) return root
  const [issue] = issues
  if (issue === undefined && (root === undefined || root.type === 'null')) return undefined
  const where = issue === undefined ? '' : `:${issue.line}:${issue.column}`
  throw new UsageError(`the file is not valid${where}: ${issue?.message ?? 'it must be a mapping'}`)
}

/** Returns where the first server starts: at its key, or at the dash before it. */
function firstOf(
  value: ConfigNode,
): { readonly line: number; readonly column: number } | undefined {
  if (isObject(value)) return [...value.members.values()][0]?.at
  const [item] = value.type === 'list' ? value.items : []
  return item && { line: item.at.line, column: item.at.column - 2 }
}

function startOf(
  value: ConfigNode,
  name: string,
): { readonly line: number; readonly indent: number } | undefined {
  if (isObject(value)) {
    const at = value.members.get(name)?.at
    return at && { line: at.line, indent: at.column - 1 }
  }
  const items = value.type === 'list' ? value.items : []
  const item = items.find(one => {
    const called = isObject(one) ? one.members.get('name')?.value : undefined
    return called?.type === 'string' && called.value === name
  })
  return item && { line: item.at.line, indent: item.at.column - 3 }
}

function sizeOf(value: ConfigNode): number {
  return value.type === 'list' ? value.items.length : 0
}

/** Empty lines and comments after a server are not part of it. */
function indentOf(line: string): number {
  const [, space = '', rest = ''] = /^(\s*?)(\S.*)?$/s.exec(line.replace(/\r?\n$/, '')) ?? []
  return rest === '' || rest.startsWith('#') ? -1 : space.length
}

/** Writes an entry in the block style, with values as in JSON, which YAML contains. */
function entryLines(
  name: string,
  entry: HostEntry,
  indent: number,
  isSequence: boolean,
): readonly string[] {
  const space = ' '.repeat(indent)
  const values = Object.entries(entry).filter(([key]) => !(isSequence && key === 'name'))
  const lines = values.map(([key, value]) => `${space}  ${key}: ${JSON.stringify(value)}`)
  const shownName = /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
  return [isSequence ? `${space}- name: ${shownName}` : `${space}${shownName}:`, ...lines]
}

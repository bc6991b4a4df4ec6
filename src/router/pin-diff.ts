import { invisible } from '../mcp/names.ts'
import { isRecord } from '../util/record.ts'

const mostShown = 3
const mostCharacters = 60

/**
 * How many characters of a text cannot be seen, line breaks and tabs aside: text for a model that
 * people do not see is how tools are poisoned.
 */
export function countInvisible(text: string): number {
  let count = 0
  for (const [character] of text.matchAll(allInvisible)) {
    if (character !== '\n' && character !== '\r' && character !== '\t') count++
  }
  return count
}

/**
 * What differs between two JSON values, in one line for people: up to three places with what was and
 * is there, and how many more there are. Characters that cannot be seen are shown by their numbers.
 */
export function describeChange(before: unknown, after: unknown): string {
  const lines: string[] = []
  compare('', before, after, lines)
  const more = lines.length - mostShown
  return lines.slice(0, mostShown).join('; ') + (more > 0 ? `; and ${more} more` : '')
}

const allInvisible = new RegExp(invisible, 'gu')

function compare(path: string, before: unknown, after: unknown, lines: string[]): void {
  if (isRecord(before) && isRecord(after)) compareMembers(path, before, after, lines)
  else if (Array.isArray(before) && Array.isArray(after)) {
    for (let at = 0; at < Math.max(before.length, after.length); at++) {
      compare(`${path}[${at}]`, before[at], after[at], lines)
    }
  } else if (before === undefined && after !== undefined) {
    lines.push(`${path} added: ${show(after)}`)
  } else if (before !== undefined && after === undefined) {
    lines.push(`${path} removed: ${show(before)}`)
  } else if (before !== after) lines.push(`${path}: ${showBoth(before, after)}`)
}

function compareMembers(
  path: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  lines: string[],
): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const inner = path === '' ? visible(name) : `${path}.${visible(name)}`
    compare(inner, own(before, name), own(after, name), lines)
  }
}

function own(members: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

function showBoth(before: unknown, after: unknown): string {
  if (typeof before !== 'string' || typeof after !== 'string') {
    return `${show(before)} → ${show(after)}`
  }
  // Long texts are shown from a little before the place where they part.
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const from = same > mostCharacters / 2 ? same - 10 : 0
  const added = countInvisible(after) - countInvisible(before)
  const hint = added > 0 ? ` (characters that cannot be seen: ${added} more)` : ''
  return `${show(before, from)} → ${show(after, from)}${hint}`
}

function show(value: unknown, from = 0): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const cut = text.slice(from, from + mostCharacters)
  const dots = text.length > from + mostCharacters ? '…' : ''
  const shown = `${from > 0 ? '…' : ''}${visible(cut)}${dots}`
  return typeof value === 'string' ? `"${shown}"` : shown
}

function visible(text: string): string {
  return text.replace(allInvisible, character => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return `<U+${number}>`
  })
}

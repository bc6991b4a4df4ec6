import { invisible } from '../../mcp/names.ts'
import { isRecord } from '../../util/record.ts'

const mostShown = 3
const mostCharacters = 60
/** Of a text that is looked at by itself: enough to see what a model would be told. */
const mostLooked = 2000

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
  const lines = changes(before, after, mostCharacters)
  const more = lines.length - mostShown
  return lines.slice(0, mostShown).join('; ') + (more > 0 ? `; and ${more} more` : '')
}

/** The same in full: every place in a line of its own, with so much of it that it can be judged. */
export function changeLines(before: unknown, after: unknown): readonly string[] {
  return changes(before, after, mostLooked)
}

function changes(before: unknown, after: unknown, most: number): readonly string[] {
  const found: Difference[] = []
  compare('', before, after, found)
  return found.map(one => words(one, most))
}

/** What is at one place, before and after; undefined where there is nothing. */
interface Difference {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

function words({ path, before, after }: Difference, most: number): string {
  if (before === undefined) return `${path} added: ${show(after, most)}`
  if (after === undefined) return `${path} removed: ${show(before, most)}`
  return `${path}: ${showBoth(before, after, most)}`
}

const allInvisible = new RegExp(invisible, 'gu')

function compare(path: string, before: unknown, after: unknown, found: Difference[]): void {
  if (isRecord(before) && isRecord(after)) compareMembers(path, before, after, found)
  else if (Array.isArray(before) && Array.isArray(after)) {
    for (let at = 0; at < Math.max(before.length, after.length); at++) {
      compare(`${path}[${at}]`, before[at], after[at], found)
    }
  } else if (before !== after) found.push({ path, before, after })
}

function compareMembers(
  path: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  found: Difference[],
): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const inner = path === '' ? visible(name) : `${path}.${visible(name)}`
    compare(inner, own(before, name), own(after, name), found)
  }
}

function own(members: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

function showBoth(before: unknown, after: unknown, most: number): string {
  if (typeof before !== 'string' || typeof after !== 'string') {
    return `${show(before, most)} → ${show(after, most)}`
  }
  // Long texts are shown from a little before the place where they part.
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const from = same > most / 2 ? same - 10 : 0
  const added = countInvisible(after) - countInvisible(before)
  const hint = added > 0 ? ` (characters that cannot be seen: ${added} more)` : ''
  return `${show(before, most, from)} → ${show(after, most, from)}${hint}`
}

function show(value: unknown, most: number, from = 0): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const cut = text.slice(from, from + most)
  const dots = text.length > from + most ? '…' : ''
  const shown = `${from > 0 ? '…' : ''}${visible(cut)}${dots}`
  return typeof value === 'string' ? `"${shown}"` : shown
}

function visible(text: string): string {
  return text.replace(allInvisible, character => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return `<U+${number}>`
  })
}

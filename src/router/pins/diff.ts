import { invisible } from '../../mcp/names.ts'
import { isRecord } from '../../util/objects.ts'

/** Number of differences in a summary, and characters of each value. */
const maxSummaryItems = 3
const maxSummaryCharacters = 60
/** Characters of each value in a full diff: enough to review what a model would read. */
const maxDetailCharacters = 2000

/**
 * Counts the invisible characters of a text, except line breaks and tabs. Text that a model reads but
 * people do not see is a means of tool poisoning.
 */
export function countInvisible(text: string): number {
  let count = 0
  for (const [character] of text.matchAll(allInvisible)) {
    if (character !== '\n' && character !== '\r' && character !== '\t') count++
  }
  return count
}

/**
 * Summarizes the differences between two JSON values in one line: up to three paths with old and new
 * value, and the number of further differences. Invisible characters are shown as code points.
 */
export function describeChange(before: unknown, after: unknown): string {
  const lines = changes(before, after, maxSummaryCharacters)
  const more = lines.length - maxSummaryItems
  return lines.slice(0, maxSummaryItems).join('; ') + (more > 0 ? `; and ${more} more` : '')
}

/** Returns all differences between two JSON values, one line each, with long excerpts for review. */
export function changeLines(before: unknown, after: unknown): readonly string[] {
  return changes(before, after, maxDetailCharacters)
}

function changes(before: unknown, after: unknown, max: number): readonly string[] {
  const found: Difference[] = []
  compare('', before, after, found)
  return found.map(one => describe(one, max))
}

/** The values at one path before and after; undefined if there is none. */
interface Difference {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

function describe({ path, before, after }: Difference, max: number): string {
  if (before === undefined) return `${path} added: ${show(after, max)}`
  if (after === undefined) return `${path} removed: ${show(before, max)}`
  return `${path}: ${showBoth(before, after, max)}`
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

function showBoth(before: unknown, after: unknown, max: number): string {
  if (typeof before !== 'string' || typeof after !== 'string') {
    return `${show(before, max)} → ${show(after, max)}`
  }
  // Long texts are shown from shortly before their first difference.
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const from = same > max / 2 ? same - 10 : 0
  const added = countInvisible(after) - countInvisible(before)
  const hint = added > 0 ? ` (invisible characters added: ${added})` : ''
  return `${show(before, max, from)} → ${show(after, max, from)}${hint}`
}

function show(value: unknown, max: number, from = 0): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const cut = text.slice(from, from + max)
  const dots = text.length > from + max ? '…' : ''
  const shown = `${from > 0 ? '…' : ''}${visible(cut)}${dots}`
  return typeof value === 'string' ? `"${shown}"` : shown
}

function visible(text: string): string {
  return text.replace(allInvisible, character => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return `<U+${number}>`
  })
}

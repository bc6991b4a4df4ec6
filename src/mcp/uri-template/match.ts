import { setMember } from '../../util/objects.ts'
import { normalized, type TemplatePart } from './parse.ts'
import { type Findings, type Slot, slotsOf } from './slots.ts'

/** Values by variable. Without a prototype, because a variable may have any name. */
export type Found = Readonly<Record<string, string | readonly string[]>>

/**
 * The maximum length of a normalized URI, which is longer than the original if characters are encoded.
 */
const maxUriLength = 2 ** 20

/**
 * Creates a function that finds the values of a template's variables in a URI.
 *
 * Its time is linear in the length of the URI, for any template: one pass from the end to the start per
 * slot finds the positions from which the rest of the template matches; then each slot in turn gets its
 * extent. There is no backtracking.
 */
export function createMatcher(parts: readonly TemplatePart[]): (uri: string) => Found | undefined {
  const { prefix, slots } = slotsOf(parts)
  const numbered = slots.map((slot, i) => ({ ...slot, bit: 1 << i, nextBit: 1 << (i + 1) }))
  const last = numbered.at(-1)
  const backwards = numbered.slice(0, -1).reverse()
  return uri => {
    if (uri.length > maxUriLength) return undefined
    const text = normalized(uri)
    if (text === undefined || text.length > maxUriLength || !text.startsWith(prefix)) {
      return undefined
    }
    if (last === undefined) return text === prefix ? foundOf(new Map()) : undefined
    const start = prefix.length
    const end = text.length - last.after.length
    if (end < start || !text.endsWith(last.after)) return undefined
    const search = { text, start, end, marks: new Uint16Array(end + 1 - start) }
    markLast(search, last)
    const isPossible = backwards.every(slot => mark(search, slot))
    return isPossible && (search.marks[0] ?? 0) & 1 ? read(search, numbered) : undefined
  }
}

interface Search {
  readonly text: string
  /** The start of the first slot, and the end of the last one. */
  readonly start: number
  readonly end: number
  /** For each position from start to end, the bits of the slots that match from there on. */
  readonly marks: Uint16Array
}

interface NumberedSlot extends Slot {
  readonly bit: number
  readonly nextBit: number
}

/** Marks the positions of the last slot, which must extend to the end. */
function markLast({ text, start, end, marks }: Search, slot: NumberedSlot): void {
  const { opener, allowed, bit } = slot
  if (opener !== -1) marks[end - start] = bit
  for (let place = end - 1; place >= start; place--) {
    const code = text.charCodeAt(place)
    const isAllowed = allowed[code] === 1
    if (opener === -1 ? isAllowed : code === opener) marks[place - start] = bit
    if (!isAllowed) return
  }
}

/** Marks the positions of a slot, after those of the next one; returns false if there are none. */
function mark(search: Search, slot: NumberedSlot): boolean {
  const { text, start, marks } = search
  const { opener, allowed, bit } = slot
  let isFound = false
  // Whether allowed characters, or none, lead from the next position to an end of the slot.
  let canEnd = false
  for (let place = search.end - slot.after.length; place >= start; place--) {
    const code = text.charCodeAt(place)
    const isAllowed = allowed[code] === 1
    const endsHere = isEnd(search, slot, place)
    if (opener === -1 ? isAllowed && canEnd : endsHere || (code === opener && canEnd)) {
      marks[place - start] = (marks[place - start] ?? 0) | bit
      isFound = true
    }
    canEnd = endsHere || (isAllowed && canEnd)
  }
  return isFound
}

/** Whether a slot can end at a position: the text after it follows, and then the rest matches. */
function isEnd({ text, start, marks }: Search, slot: NumberedSlot, place: number): boolean {
  const { after } = slot
  if (((marks[place - start + after.length] ?? 0) & slot.nextBit) === 0) return false
  if (isInsideCharacter(text, place, after)) return false
  // Not startsWith, which takes several times as long when called for every position.
  for (let i = 0; i < after.length; i++) {
    if (text.charCodeAt(place + i) !== after.charCodeAt(i)) return false
  }
  return true
}

/** Whether a position is inside an escape, or between the escapes of one character, where no value ends. */
function isInsideCharacter(text: string, place: number, after: string): boolean {
  if (text.charCodeAt(place - 1) === percent || text.charCodeAt(place - 2) === percent) return true
  // A literal may begin with any escape.
  return after === '' && text.charCodeAt(place) === percent && /[89AB]/.test(text.charAt(place + 1))
}

const percent = 0x25

function read(search: Search, slots: readonly NumberedSlot[]): Found | undefined {
  const findings: Findings = new Map()
  let place = search.start
  for (const slot of slots) {
    const end = endOf(search, slot, place, slot === slots.at(-1))
    const begin = slot.opener === -1 ? place : place + 1
    if (end > place && !slot.take(search.text.slice(begin, end), findings)) return undefined
    place = end + slot.after.length
  }
  return foundOf(findings)
}

/**
 * Returns the end of a slot that starts at a marked position: the first for a value, the last for a
 * group.
 */
function endOf(search: Search, slot: NumberedSlot, place: number, isLast: boolean): number {
  if (isLast) return search.end
  if (slot.opener !== -1) return farthestEnd(search, slot, place)
  let end = place + 1
  while (!isEnd(search, slot, end)) end++
  return end
}

/** Returns the end of a group that starts with the opener; the position itself if there is none. */
function farthestEnd(search: Search, slot: NumberedSlot, place: number): number {
  const { text } = search
  let farthest = place
  if (text.charCodeAt(place) !== slot.opener) return farthest
  for (let end = place + 1; end <= search.end; end++) {
    if (isEnd(search, slot, end)) farthest = end
    if (slot.allowed[text.charCodeAt(end)] !== 1) break
  }
  return farthest
}

function foundOf(findings: Findings): Found {
  const found: Record<string, string | readonly string[]> = Object.create(null)
  for (const [name, { variable, values }] of findings) {
    setMember(found, name, variable.explode ? values : (values[0] ?? ''))
  }
  return found
}

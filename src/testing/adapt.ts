import { match, type Names } from './match.ts'
import type { Shape } from './shape.ts'

/**
 * Returns the shape of a value, keeping as much as possible of an older shape: parts that still match
 * stay as they were written, including placeholders, and the rest becomes the value itself.
 */
export function adapt(
  old: Shape | undefined,
  actual: Shape,
  names: Names,
): { readonly shape: Shape; readonly names: Names } {
  if (old === undefined) return { shape: actual, names }
  const found = match(old, actual, names)
  if ('names' in found) return { shape: old, names: found.names }
  if (old.kind === 'object' && actual.kind === 'object') return adaptObject(old, actual, names)
  if (old.kind === 'array' && actual.kind === 'array') return adaptArray(old, actual, names)
  return { shape: actual, names }
}

function adaptObject(
  old: Extract<Shape, { kind: 'object' }>,
  actual: Extract<Shape, { kind: 'object' }>,
  names: Names,
): { readonly shape: Shape; readonly names: Names } {
  const members = new Map<string, Shape>()
  let known = names
  // Kept members stay in place; new ones follow, unless an ellipsis stands for them.
  const kept = [...old.members.keys()].filter(name => actual.members.has(name))
  const added = [...actual.members.keys()].filter(name => !old.members.has(name))
  for (const name of old.isOpen ? kept : [...kept, ...added]) {
    const value = actual.members.get(name)
    if (value === undefined) continue
    const adapted = adapt(old.members.get(name), value, known)
    members.set(name, adapted.shape)
    known = adapted.names
  }
  return { shape: { kind: 'object', members, isOpen: old.isOpen }, names: known }
}

function adaptArray(
  old: Extract<Shape, { kind: 'array' }>,
  actual: Extract<Shape, { kind: 'array' }>,
  names: Names,
): { readonly shape: Shape; readonly names: Names } {
  const items: Shape[] = []
  let known = names
  const values = old.isOpen ? actual.items.slice(0, old.items.length) : actual.items
  for (const [place, value] of values.entries()) {
    const adapted = adapt(old.items[place], value, known)
    items.push(adapted.shape)
    known = adapted.names
  }
  return { shape: { kind: 'array', items, isOpen: old.isOpen }, names: known }
}

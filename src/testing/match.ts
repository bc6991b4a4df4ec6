import { printShape, type Scalar, type Shape } from './shape.ts'

/** The values that names are bound to so far. */
export type Names = ReadonlyMap<string, Shape>

/** The path of a difference, and its description. */
export interface Mismatch {
  /** Such as `result.tools[0].name`; empty for the root. */
  readonly where: string
  readonly why: string
}

export type Match = { readonly names: Names } | { readonly mismatch: Mismatch }

/**
 * Compares a value with an expected shape. If it matches, returns the names with those that the shape
 * binds for the first time. The order of members does not matter.
 */
export function match(expected: Shape, actual: Shape, names: Names, where = ''): Match {
  switch (expected.kind) {
    case 'anything':
      return { names }
    case 'name': {
      const known = names.get(expected.name)
      if (known !== undefined) return match(known, actual, names, where)
      return { names: new Map(names).set(expected.name, actual) }
    }
    case 'gaps':
      return isScalar(actual) && fillsGaps(actual.value, expected.parts)
        ? { names }
        : differs(expected, actual, where)
    case 'scalar':
      return isScalar(actual) && actual.value === expected.value
        ? { names }
        : differs(expected, actual, where)
    case 'array':
      return matchArrays(expected, actual, names, where)
    case 'object':
      return matchObjects(expected, actual, names, where)
  }
}

/**
 * Assigns a different value to each shape, in any order: `places` has the index of the value for each
 * shape. Returns undefined if that is impossible.
 */
export function matchInAnyOrder(
  expected: readonly Shape[],
  actual: readonly Shape[],
  names: Names,
): { readonly places: readonly number[]; readonly names: Names } | undefined {
  const search = (
    places: readonly number[],
    known: Names,
  ): { readonly places: readonly number[]; readonly names: Names } | undefined => {
    const shape = expected[places.length]
    if (shape === undefined) return { places, names: known }
    for (const [place, value] of actual.entries()) {
      if (places.includes(place)) continue
      const found = match(shape, value, known)
      const rest = 'names' in found ? search([...places, place], found.names) : undefined
      if (rest !== undefined) return rest
    }
    return undefined
  }
  return search([], names)
}

function matchArrays(
  expected: Extract<Shape, { kind: 'array' }>,
  actual: Shape,
  names: Names,
  where: string,
): Match {
  if (actual.kind !== 'array') return differs(expected, actual, where)
  let known = names
  for (const [place, item] of expected.items.entries()) {
    const value = actual.items[place]
    const there = `${where}[${place}]`
    if (value === undefined) return mismatch(there, `is missing, expected ${printShape(item)}`)
    const found = match(item, value, known, there)
    if ('mismatch' in found) return found
    known = found.names
  }
  const more = actual.items[expected.items.length]
  return more === undefined || expected.isOpen
    ? { names: known }
    : mismatch(`${where}[${expected.items.length}]`, `is ${printShape(more)}, expected nothing`)
}

function matchObjects(
  expected: Extract<Shape, { kind: 'object' }>,
  actual: Shape,
  names: Names,
  where: string,
): Match {
  if (actual.kind !== 'object') return differs(expected, actual, where)
  let known = names
  for (const [name, member] of expected.members) {
    const value = actual.members.get(name)
    const there = path(where, name)
    if (value === undefined) return mismatch(there, `is missing, expected ${printShape(member)}`)
    const found = match(member, value, known, there)
    if ('mismatch' in found) return found
    known = found.names
  }
  if (expected.isOpen) return { names: known }
  for (const [name, value] of actual.members) {
    if (expected.members.has(name)) continue
    return mismatch(path(where, name), `is ${printShape(value)}, expected nothing`)
  }
  return { names: known }
}

function path(where: string, name: string): string {
  if (!/^\w+$/.test(name)) return `${where}[${JSON.stringify(name)}]`
  return where === '' ? name : `${where}.${name}`
}

function isScalar(shape: Shape): shape is Extract<Shape, { kind: 'scalar' }> {
  return shape.kind === 'scalar'
}

/** Whether a string consists of the parts in order, with anything in between. */
function fillsGaps(value: Scalar, parts: readonly string[]): boolean {
  if (typeof value !== 'string') return false
  const [first = '', ...rest] = parts
  const last = rest.pop() ?? ''
  if (!value.startsWith(first) || value.length < first.length + last.length) return false
  let from = first.length
  for (const part of rest) {
    const found = value.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return value.length - last.length >= from && value.endsWith(last)
}

function differs(expected: Shape, actual: Shape, where: string): Match {
  return mismatch(where, `is ${printShape(actual)}, expected ${printShape(expected)}`)
}

function mismatch(where: string, why: string): Match {
  return { mismatch: { where, why } }
}

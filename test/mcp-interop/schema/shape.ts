import { isBefore, type Revision } from '../driver.ts'

/** The state of a check: the revision, the path to the value, and the problems found so far. */
export interface Place {
  readonly revision: Revision
  readonly path: string
  readonly problems: string[]
  /** Whether members that the revision does not have are problems too. */
  readonly strict: boolean
}

/** Checks one value and reports its problems. */
export type Shape = (value: unknown, place: Place) => void

/** A member that only some revisions have or require. */
export interface Member {
  readonly shape: Shape
  readonly from?: Revision
  readonly until?: Revision
  /** The revisions that require it: all that have it, none, or some. */
  readonly needed: boolean | readonly Revision[]
}

export type Members = Readonly<Record<string, Shape | Member>>

const report = ({ path, problems }: Place, what: string): void => {
  problems.push(`${path} ${what}`)
}

const primitive =
  (test: (value: unknown) => boolean, what: string): Shape =>
  (value, place) => {
    if (!test(value)) report(place, `is no ${what}`)
  }

export const anything: Shape = () => {}
export const string = primitive(value => typeof value === 'string', 'string')
export const boolean = primitive(value => typeof value === 'boolean', 'boolean')
export const number = primitive(value => typeof value === 'number', 'number')
export const integer = primitive(value => Number.isInteger(value), 'integer')
export const natural = primitive(
  value => Number.isInteger(value) && Number(value) >= 0,
  'integer from 0 on',
)
export const fraction = primitive(
  value => typeof value === 'number' && value >= 0 && value <= 1,
  'number from 0 to 1',
)
export const primitiveValue = primitive(
  value => ['string', 'number', 'boolean'].includes(typeof value),
  'string, number or boolean',
)
export const id = primitive(
  value => typeof value === 'string' || Number.isInteger(value),
  'string or integer',
)
export const uri = primitive(
  value => typeof value === 'string' && /^[a-z][a-z\d+.-]*:/i.test(value),
  'address',
)
export const base64 = primitive(
  value =>
    typeof value === 'string' &&
    /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(value),
  'Base64',
)

export const word = (...words: readonly string[]): Shape =>
  primitive(value => typeof value === 'string' && words.includes(value), words.join(' or '))

export const list =
  (item: Shape): Shape =>
  (value, place) => {
    if (!Array.isArray(value)) return report(place, 'is not an array')
    value.forEach((each, i) => {
      item(each, { ...place, path: `${place.path}[${i}]` })
    })
  }

/** An object with arbitrary member names. */
export const map =
  (item: Shape): Shape =>
  (value, place) => {
    if (!isRecord(value)) return report(place, 'is not an object')
    for (const [name, each] of Object.entries(value)) {
      item(each, { ...place, path: `${place.path}.${name}` })
    }
  }

/** An object with any members. */
export const open: Shape = map(anything)

/** An object with these members. Others are allowed unless the check is strict. */
export const object = (members: Members): Shape => {
  const table = Object.entries(members).map(([key, value]) => [key, memberOf(value)] as const)
  return (value, place) => {
    if (!isRecord(value)) return report(place, 'is not an object')
    const here = table.filter(([, member]) => exists(member, place.revision))
    for (const [name, member] of here) {
      const inner = { ...place, path: `${place.path}.${name}` }
      if (value[name] !== undefined) member.shape(value[name], inner)
      else if (isNeeded(member, place.revision)) report(inner, 'is missing')
    }
    if (!place.strict) return
    const known = new Set(here.map(([name]) => name))
    for (const name of Object.keys(value)) {
      if (!known.has(name)) report({ ...place, path: `${place.path}.${name}` }, 'is not known')
    }
  }
}

/** One of several kinds, distinguished by the value of a member. */
export const tagged =
  (tag: string, kinds: Readonly<Record<string, Shape | Member>>): Shape =>
  (value, place) => {
    if (!isRecord(value)) return report(place, 'is not an object')
    const found = Object.entries(kinds).find(([name]) => name === value[tag])
    const kind = found === undefined ? undefined : memberOf(found[1])
    const inner = { ...place, path: `${place.path}.${tag}` }
    if (kind === undefined) return report(inner, `is no known kind: ${String(value[tag])}`)
    if (!exists(kind, place.revision)) return report(inner, `is not in ${place.revision}`)
    kind.shape(value, place)
  }

/** A value that matches one of several shapes. Reports the problems of the shape with the fewest. */
export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value, place) => {
    let best: readonly string[] | undefined
    for (const shape of shapes) {
      const problems: string[] = []
      shape(value, { ...place, problems })
      if (best === undefined || problems.length < best.length) best = problems
    }
    place.problems.push(...(best ?? []))
  }

/** An optional member. */
export const optional = (shape: Shape): Member => ({ shape, needed: false })

/** An optional member that exists from a revision on, and perhaps only until another. */
export const since = (from: Revision, shape: Shape, until?: Revision): Member => ({
  shape,
  from,
  until,
  needed: false,
})

/** A member that is required from a revision on. */
export const neededSince = (from: Revision, shape: Shape, until?: Revision): Member => ({
  shape,
  from,
  until,
  needed: true,
})

/** Whether it exists in a revision. */
export function exists({ from, until }: Pick<Member, 'from' | 'until'>, at: Revision): boolean {
  if (from !== undefined && isBefore(at, from)) return false
  return until === undefined || !isBefore(until, at)
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function memberOf(value: Shape | Member): Member {
  return typeof value === 'function' ? { shape: value, needed: true } : value
}

function isNeeded({ needed }: Member, revision: Revision): boolean {
  return typeof needed === 'boolean' ? needed : needed.includes(revision)
}

import { frozenCopy, isRecord, setMember } from '../../util/objects.ts'

/** Returns a value with the defaults of missing members. Copies only what changes. */
export type ApplyDefaults = (value: unknown) => unknown

/**
 * Returns a function that fills in the defaults of a plain JSON Schema; undefined for a schema without any.
 *
 * Defaults are those of `properties`, at any depth, and of the objects in `items`. A schema that applies
 * only under a condition, such as one of `anyOf`, fills in nothing.
 */
export function defaultsOf(schema: unknown): ApplyDefaults | undefined {
  if (!isRecord(schema)) return undefined
  const members = memberDefaults(schema.properties)
  const items = defaultsOf(schema.items)
  if (members.length === 0 && items === undefined) return undefined
  return value => {
    if (Array.isArray(value)) return items === undefined ? value : withItems(value, items)
    return isRecord(value) ? withMembers(value, members) : value
  }
}

/** The default of one member, and the defaults inside of it. */
interface MemberDefault {
  readonly name: string
  /** Undefined where the member itself has no default. */
  readonly value: unknown
  readonly inner: ApplyDefaults | undefined
}

function memberDefaults(properties: unknown): readonly MemberDefault[] {
  if (!isRecord(properties)) return []
  const found: MemberDefault[] = []
  for (const [name, property] of Object.entries(properties)) {
    if (!isRecord(property)) continue
    const inner = defaultsOf(property)
    const { default: value } = property
    if (value === undefined && inner === undefined) continue
    // Frozen, because all values share it.
    found.push({ name, value: isRecord(value) ? frozenCopy(value) : value, inner })
  }
  return found
}

function withMembers(
  value: Readonly<Record<string, unknown>>,
  members: readonly MemberDefault[],
): Readonly<Record<string, unknown>> {
  let filled: Record<string, unknown> | undefined
  for (const { name, value: byDefault, inner } of members) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    const now = given === undefined ? byDefault : (inner?.(given) ?? given)
    if (now === given) continue
    filled ??= { ...value }
    setMember(filled, name, now)
  }
  return filled ?? value
}

function withItems(items: readonly unknown[], apply: ApplyDefaults): readonly unknown[] {
  const filled = items.map(apply)
  return filled.some((item, at) => item !== items[at]) ? filled : items
}

/**
 * Returns why a value cannot be sent as JSON without losing something: the first member that JSON would
 * silently drop or empty, such as a function, a `Map` or a stream, and where it is. Returns undefined for
 * plain data. A value with `toJSON`, such as a `Date`, represents itself.
 *
 * Visits at most `maxDepth` levels, so that a cycle ends; writing the value as JSON reports a cycle.
 */
export function jsonFault(value: unknown, name = 'the value', depth = 0): string | undefined {
  if (typeof value === 'function') return `${name} is a function`
  if (typeof value === 'symbol') return `${name} is a symbol`
  if (typeof value !== 'object' || value === null || depth > maxDepth) return undefined
  if (Array.isArray(value)) return arrayFault(value, name, depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return memberFault(value, name, depth)
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  if (ArrayBuffer.isView(value) || tag === 'ArrayBuffer' || tag === 'SharedArrayBuffer') {
    return `${name} is ${tag}: encode bytes as Base64, or return image(), audio() or embed()`
  }
  if (tag === 'AsyncGenerator' || tag === 'Generator') {
    return `${name} is a generator: return the whole value, and report steps with ctx.progress()`
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return undefined
  // An instance of a class of the application, such as the row of a database.
  return tag === 'Object'
    ? memberFault(value, name, depth, true)
    : `${name} is ${tag}, which JSON cannot represent`
}

const maxDepth = 64

function arrayFault(items: readonly unknown[], name: string, depth: number): string | undefined {
  for (let at = 0; at < items.length; at++) {
    const item = items[at]
    if (isPlain(item)) continue
    const fault = jsonFault(item, `${name}[${at}]`, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

function memberFault(
  value: object,
  name: string,
  depth: number,
  mayHaveMethods = false,
): string | undefined {
  for (const [key, member] of Object.entries(value)) {
    if (isPlain(member) || (mayHaveMethods && typeof member === 'function')) continue
    const fault = jsonFault(member, depth === 0 ? `"${key}"` : `${name}.${key}`, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

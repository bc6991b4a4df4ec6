import { isRecord } from '../../util/record.ts'
import { decodeHeader } from './encoding.ts'

/** From the name of a header to the path of the argument it repeats. */
export type MirroredArguments = ReadonlyMap<string, readonly string[]>

/**
 * Why the headers that repeat arguments of a call do not agree with them, in words; undefined when they
 * do. `headers` are by their names in lower case. An argument that is null, absent, or none that a
 * header can carry wants no header, and must not have one that says otherwise.
 */
export function argumentProblem(
  mirrored: MirroredArguments,
  given: unknown,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  for (const [name, path] of mirrored) {
    const value = valueAt(given, path)
    const header = headerOf(headers, name.toLowerCase())
    if (header === undefined) {
      if (isCarried(value)) return `the header ${name} is missing`
      continue
    }
    const text = decodeHeader(header)
    if (text === undefined) return `the header ${name} is not well encoded`
    if (!says(text, value)) return `the header ${name} is not the argument ${path.join('.')}`
  }
  return undefined
}

function valueAt(given: unknown, path: readonly string[]): unknown {
  let at = given
  for (const key of path) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  return at
}

function headerOf(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined
}

function isCarried(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)
}

function says(text: string, value: unknown): boolean {
  if (typeof value !== 'number') return String(value) === text && isCarried(value)
  // By its value, since 42.0 is 42; beyond what numbers hold, two different ones would look equal.
  if (!Number.isSafeInteger(value)) return text === String(value)
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && Number(text) === value
}

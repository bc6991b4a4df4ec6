import { isRecord } from '../../util/objects.ts'
import { decodeHeader } from './encoding.ts'

/** The path of the argument by the name of its header. */
export type MirroredArguments = ReadonlyMap<string, readonly string[]>

/**
 * Returns why the headers that mirror arguments do not match them, as a sentence; undefined if they
 * match. `headers` has names in lower case. An argument that is null, missing, or of a type that
 * headers cannot carry needs no header, and must not have one with another value.
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
  // Compared as numbers, because 42.0 is 42; beyond safe integers two different numbers would be equal.
  if (!Number.isSafeInteger(value)) return text === String(value)
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && Number(text) === value
}

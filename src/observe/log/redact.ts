import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { hideValues } from '../../util/text/hidden-values.ts'

/** The replacement of a secret. */
const redacted = '[redacted]'

/**
 * Returns a copy of a value for the log: secrets that can be recognized by their key or by their form are
 * replaced, and long strings, long lists and deep values are cut. Never throws.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'number') return Number.isFinite(value) ? value : `${value}`
  if (typeof value === 'boolean' || value === null || value === undefined) return value
  if (value instanceof Error) return redactText(value.message)
  if (depth >= maxDepth) return '[…]'
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(item => redact(item, depth + 1))
  if (!isRecord(value)) return `[${typeof value}]`
  const entries = Object.entries(value).slice(0, maxEntries)
  return Object.fromEntries(
    entries.map(([key, item]) => [
      redactText(key),
      secretKey.test(key) ? redacted : redact(item, depth + 1),
    ]),
  )
}

/**
 * Returns a text without the values of environment variables that a configuration uses, and without the
 * secrets of known forms: user names and passwords in URLs, credentials after
 * `Bearer` or `Basic`, and values that are assigned to the name of a secret. Long texts are cut.
 */
export function redactText(text: string): string {
  const { default: longest } = limits.logText
  // Some more than is shown, so that no value is cut before it is recognized.
  const hidden = hideValues(text.slice(0, longest + longestValue))
  const short = hidden.length > longest ? `${hidden.slice(0, longest)}…` : hidden
  return short
    .replace(/\b([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/?#@]{1,1024}@/gi, `$1${redacted}@`)
    .replace(/\b(bearer|basic)[ \t]{1,8}[\w.~+/=-]{1,1024}/gi, `$1 ${redacted}`)
    .replace(assigned, `$1${redacted}`)
}

/** Whether a member of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return secretKey.test(name)
}

const longestValue = 4096
const maxDepth = 6
const maxEntries = 64

const secretNames =
  'authorization|cookie|token|secret|passw(?:or)?d|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|session[-_]?id|signature'
const secretKey = new RegExp(secretNames, 'i')
const assigned = new RegExp(
  `((?:${secretNames})["']?[ \\t]{0,4}[=:][ \\t]{0,4}["']?)[^\\s"'&;,]{1,1024}`,
  'gi',
)

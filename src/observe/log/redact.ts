import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'

/** What stands in place of a secret. */
const redacted = '[redacted]'

/**
 * A value fit for a log: secrets that can be told by the name of their key, or by how they are
 * written, are left out, texts are cut, and what is deep or long is shortened. Never throws.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'number') return Number.isFinite(value) ? value : `${value}`
  if (typeof value === 'boolean' || value === null || value === undefined) return value
  if (value instanceof Error) return redactText(value.message)
  if (depth >= deepest) return '[…]'
  if (Array.isArray(value)) return value.slice(0, most).map(item => redact(item, depth + 1))
  if (!isRecord(value)) return `[${typeof value}]`
  const entries = Object.entries(value).slice(0, most)
  return Object.fromEntries(
    entries.map(([key, item]) => [
      redactText(key),
      secretKey.test(key) ? redacted : redact(item, depth + 1),
    ]),
  )
}

/**
 * A text without the secrets that are written in it in a known way: user names and passwords in
 * addresses, credentials behind `Bearer` or `Basic`, and what is assigned to a name that tells a secret.
 */
export function redactText(text: string): string {
  const { default: longest } = limits.logText
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text
  return short
    .replace(/\b([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/?#@]{1,1024}@/gi, `$1${redacted}@`)
    .replace(/\b(bearer|basic)[ \t]{1,8}[\w.~+/=-]{1,1024}/gi, `$1 ${redacted}`)
    .replace(assigned, `$1${redacted}`)
}

const deepest = 6
const most = 64

const secretNames =
  'authorization|cookie|token|secret|passw(?:or)?d|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|session[-_]?id|signature'
const secretKey = new RegExp(secretNames, 'i')
const assigned = new RegExp(
  `((?:${secretNames})["']?[ \\t]{0,4}[=:][ \\t]{0,4}["']?)[^\\s"'&;,]{1,1024}`,
  'gi',
)

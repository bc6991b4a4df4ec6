import { createHash } from 'node:crypto'

/** The place of a line in an audit log, for the line after it. */
export interface ChainEnd {
  /** The number of the last line; 0 before the first. */
  readonly sequence: number
  /** The SHA-256 digest of the last line, in hexadecimal; zeros before the first. */
  readonly digest: string
}

/** The end of an empty log. */
export const chainStart: ChainEnd = { sequence: 0, digest: '0'.repeat(64) }

/** Returns the digest of a line, without its line break. */
export function lineDigest(line: string): string {
  return createHash('sha256').update(line).digest('hex')
}

/** Makes the next line of a log, without its line break, and the end of the log after it. */
export function nextLine(
  { sequence, digest }: ChainEnd,
  time: string,
  record: object,
): { readonly line: string; readonly end: ChainEnd } {
  const line = JSON.stringify({ sequence: sequence + 1, time, ...record, previous: digest })
  return { line, end: { sequence: sequence + 1, digest: lineDigest(line) } }
}

/** Returns the end of a log whose last line is this one; a text if the line does not continue the log. */
export function followingLine(before: ChainEnd | undefined, line: string): ChainEnd | string {
  const read = readLine(line)
  if (read === undefined) return 'it is not a line of an audit log'
  const { sequence, previous } = read
  if (before !== undefined && sequence !== before.sequence + 1) {
    return `its sequence is ${sequence} and should be ${before.sequence + 1}: a line was removed or added`
  }
  if (before !== undefined && previous !== before.digest) {
    return 'it does not have the digest of the line before it, so one of the two was changed'
  }
  return { sequence, digest: lineDigest(line) }
}

function readLine(
  line: string,
): { readonly sequence: number; readonly previous: string } | undefined {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null) return undefined
    if (!('sequence' in value) || !('previous' in value)) return undefined
    const { sequence, previous } = value
    return typeof sequence === 'number' && typeof previous === 'string'
      ? { sequence, previous }
      : undefined
  } catch {
    return undefined
  }
}

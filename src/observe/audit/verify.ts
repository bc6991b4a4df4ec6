import { createReadStream } from 'node:fs'
import { type ChainEnd, chainStart, followingLine } from './chain.ts'

/** The outcome of checking an audit log. */
export interface AuditCheck {
  /** The number of lines that continue the log correctly. */
  readonly lines: number
  /** The digest of the last of them. Keep it elsewhere, to notice later if lines are missing at the end. */
  readonly digest: string
  /** The first line that is wrong, counted from 1, and why; undefined if none is. */
  readonly broken?: {
    /** The number of the line, counted from 1. */
    readonly line: number
    /** What is wrong with it, for people. */
    readonly reason: string
  }
  /** Whether the file ends within a line, because a process was writing it or ended while it did. */
  readonly isTorn: boolean
}

/** Checks that no line of an audit log was changed, added or removed. Rejects if the file cannot be read. */
export async function verifyAuditLog(path: string): Promise<AuditCheck> {
  let end: ChainEnd = chainStart
  let lines = 0
  let rest = ''
  for await (const chunk of createReadStream(path, 'utf8')) {
    const parts = `${rest}${chunk}`.split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) {
      const next = followingLine(end, line)
      if (typeof next === 'string') {
        const broken = { line: lines + 1, reason: next }
        return { lines, digest: end.digest, broken, isTorn: false }
      }
      end = next
      lines++
    }
  }
  return { lines, digest: end.digest, isTorn: rest !== '' }
}

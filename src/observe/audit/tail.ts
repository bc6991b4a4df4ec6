import type { FileHandle } from 'node:fs/promises'
import { limits } from '../../util/limits/limits.ts'
import { type ChainEnd, chainStart, followingLine } from './chain.ts'

/** The end of an audit log file. */
export interface Tail {
  /** The size of the file up to the end of its last whole line. */
  readonly size: number
  readonly end: ChainEnd
  /** The number of bytes after that: a line that was not written completely. */
  readonly tornBytes: number
}

/** Reads the end of a file. Throws an Error if its last whole line is not one of an audit log. */
export async function readTail(file: FileHandle): Promise<Tail> {
  const { size } = await file.stat()
  // Twice the length of a line, so that the last whole line is in it, also before a torn one.
  const length = Math.min(size, 2 * limits.auditLineBytes.default)
  const bytes = Buffer.alloc(length)
  await file.read(bytes, 0, length, size - length)
  const lineEnd = bytes.lastIndexOf(0x0a)
  const whole = bytes.subarray(0, lineEnd + 1)
  const tornBytes = length - whole.length
  if (whole.length === 0 && size > length) throw new Error('its last line is too long')
  if (whole.length === 0) return { size: 0, end: chainStart, tornBytes }
  const lineStart = whole.lastIndexOf(0x0a, whole.length - 2) + 1
  const end = followingLine(undefined, whole.toString('utf8', lineStart, whole.length - 1))
  if (typeof end === 'string') throw new Error(`its last line cannot be continued: ${end}`)
  return { size: size - tornBytes, end, tornBytes }
}

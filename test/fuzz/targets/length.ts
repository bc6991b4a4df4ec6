import assert from 'node:assert/strict'
import { length } from '../../../src/wire/length.ts'
import { frames } from '../reading.ts'
import { target } from '../target.ts'

const pieces = ['\0\0\0\0', '\0\0\0\x01', '\0\0\0\x05', '\0\0\0\x1f', '\0\0', 'a', 'abcde'] as const

/** Length-prefixed frames, however they are split, against a reader of the whole input. */
export const lengthTarget = target(
  'length',
  random => {
    const bytes = random.mix(pieces, 24)
    return { bytes, cut: random.cut(bytes), maxBytes: random.int(20) }
  },
  ({ bytes, cut, maxBytes }) => {
    const expected = expectedFrames(Buffer.from(bytes), maxBytes)
    assert.deepEqual(frames(length, [bytes], maxBytes), expected)
    assert.deepEqual(frames(length, cut, maxBytes), expected)
  },
)

function expectedFrames(bytes: Buffer, maxBytes: number): string[] {
  const reports: string[] = []
  let at = 0
  while (at + 4 <= bytes.length) {
    const size = bytes.readUInt32BE(at)
    const frame = bytes.toString('latin1', at + 4, at + 4 + size)
    if (size > maxBytes) reports.push('oversize')
    else if (size > 0 && frame.length === size) reports.push(`frame ${frame}`)
    if (frame.length < size) return [...reports, 'unfinished']
    at += 4 + size
  }
  if (at < bytes.length) reports.push('unfinished')
  return reports
}

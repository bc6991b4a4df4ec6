import assert from 'node:assert/strict'
import { linkReports } from '../link-reports.ts'
import { target } from '../target.ts'

const pieces = [
  '\0\0\0\0',
  '\0\0\0\x04',
  '\0\0\0\x02\x02\0\0\0\x01ab',
  '\0\0\0\x03\x04\0\0\0\x01abc',
  '\0\0\0\x04\x07\0\0\0\x01\0\0\x01\0',
  '\0\0\0\0\x05\0\0\0\x01',
  '\x0b\0\0\0\0',
  'abcde',
] as const

/** Frames of a link, however they are split, against a reader of the whole input. */
export const linkFramesTarget = target(
  'link-frames',
  random => {
    const bytes = random.mix(pieces, 24)
    return { bytes, cut: random.cut(bytes), maxBytes: random.int(20) }
  },
  ({ bytes, cut, maxBytes }) => {
    const expected = expectedReports(Buffer.from(bytes), maxBytes)
    assert.deepEqual(linkReports([bytes], maxBytes), expected)
    assert.deepEqual(linkReports(cut, maxBytes), expected)
  },
)

function expectedReports(bytes: Buffer, maxBytes: number): string[] {
  const reports: string[] = []
  for (let at = 0; at + 9 <= bytes.length; ) {
    const [size, kind, stream] = [
      bytes.readUInt32BE(at),
      bytes[at + 4] ?? 0,
      bytes.readUInt32BE(at + 5),
    ]
    const fixed = new Map([
      [5, 0],
      [7, 4],
      [10, 0],
      [11, 0],
    ]).get(kind)
    if (kind < 1 || kind > 11) return [...reports, `broken a frame has the unknown kind ${kind}`]
    if (fixed !== undefined && fixed !== size) {
      return [...reports, `broken a frame of kind ${kind} has ${size} bytes instead of ${fixed}`]
    }
    if (size > maxBytes) {
      return [...reports, `broken a frame has ${size} bytes, the limit is ${maxBytes}`]
    }
    at += 9
    const payload = bytes.toString('latin1', at, at + size)
    const before = `data ${stream} `
    if (kind !== 4) {
      if (payload.length === size) reports.push(`${kind} ${stream} ${payload}`)
    } else if (payload !== '') {
      if (reports.at(-1)?.startsWith(before)) reports.push(`${reports.pop()}${payload}`)
      else reports.push(before + payload)
    }
    at += size
  }
  return reports
}

import assert from 'node:assert/strict'
import { lines } from '../../../src/wire/lines.ts'
import { frames } from '../reading.ts'
import { target } from '../target.ts'

const pieces = [
  '\n',
  '\r',
  '\r\n',
  '{"a":1}',
  'é',
  '\u2028',
  ' ',
  '\t',
  'x',
  'x'.repeat(16),
] as const

/** Lines, in any cutting, against a reader that splits the whole input at once. */
export const linesTarget = target(
  'lines',
  random => {
    const bytes = random.mix(pieces, 24)
    return { bytes, cut: random.cut(bytes), maxBytes: random.int(20) }
  },
  ({ bytes, cut, maxBytes }) => {
    const expected = expectedFrames(Buffer.from(bytes).toString('latin1'), maxBytes)
    assert.deepEqual(frames(lines, [bytes], maxBytes), expected)
    assert.deepEqual(frames(lines, cut, maxBytes), expected)
  },
)

function expectedFrames(text: string, maxBytes: number): string[] {
  const all = text.split('\n')
  const rest = all.pop() ?? ''
  const told: string[] = []
  for (const line of all) {
    const frame = line.endsWith('\r') ? line.slice(0, -1) : line
    if (frame.length > maxBytes) told.push('oversize')
    else if (/[^ \t\r]/.test(frame)) told.push(`frame ${frame}`)
  }
  const mayStillFit = rest.endsWith('\r') ? rest.length - 1 : rest.length
  if (mayStillFit > maxBytes) told.push('oversize')
  if (rest !== '') told.push('unfinished')
  return told
}

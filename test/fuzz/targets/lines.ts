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

/** Lines, however they are split, against a reader of the whole input. */
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
  const reports: string[] = []
  for (const line of all) {
    const frame = line.endsWith('\r') ? line.slice(0, -1) : line
    if (frame.length > maxBytes) reports.push('oversize')
    else if (/[^ \t\r]/.test(frame)) reports.push(`frame ${frame}`)
  }
  const mayStillFit = rest.endsWith('\r') ? rest.length - 1 : rest.length
  if (mayStillFit > maxBytes) reports.push('oversize')
  if (rest !== '') reports.push('unfinished')
  return reports
}

import assert from 'node:assert/strict'
import { headers } from '../../../src/wire/headers.ts'
import type { Random } from '../random.ts'
import { frames, latin1 } from '../reading.ts'
import { target } from '../target.ts'

const maxBytes = 16
const pieces = [
  'Content-Length: 2\r\n',
  'content-length:17\n',
  'Content-Length: -1\r\n',
  'Content-Length: 9007199254740993\n',
  'Content-Type: a/b; charset=utf-16\r\n',
  'X: y\r\n',
  '\r\n',
  '\n',
  '\r',
  ':',
  'ab',
] as const

/**
 * Frames with headers: all valid ones are found, and any tail gives the same result however it is
 * split.
 */
export const headersTarget = target(
  'headers',
  random => {
    const good = Array.from({ length: random.int(4) }, () => makeFrame(random))
    const head = latin1(good.map(frame => frame.text).join(''))
    const bytes = Buffer.concat([head, random.mix(pieces, 12)])
    return { bytes, cut: random.cut(bytes), expected: good.flatMap(frame => frame.reports) }
  },
  ({ bytes, cut, expected }) => {
    const whole = frames(headers, [bytes], maxBytes)
    assert.deepEqual(whole.slice(0, expected.length), expected)
    assert.deepEqual(frames(headers, cut, maxBytes), whole)
    const broken = whole.findIndex(line => line.startsWith('broken'))
    assert.ok(broken === -1 || broken === whole.length - 1, 'nothing follows a break')
  },
)

function makeFrame(random: Random): { text: string; reports: readonly string[] } {
  const body = 'b'.repeat(random.int(20))
  const end = random.pick(['\r\n', '\n'])
  const lines = [`${random.pick(['Content-Length', 'CONTENT-LENGTH'])}: ${body.length}`]
  if (random.once(2)) lines.push('Content-Type: application/vscode-jsonrpc; charset=utf-8')
  if (random.once(2)) lines.unshift(`X-Note: ${'n'.repeat(random.int(40))}`)
  const text = `${lines.join(end)}${end}${end}${body}`
  if (body.length > maxBytes) return { text, reports: ['oversize'] }
  return { text, reports: body === '' ? [] : [`frame ${body}`] }
}

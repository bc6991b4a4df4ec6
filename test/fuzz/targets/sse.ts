import assert from 'node:assert/strict'
import { writeEvent } from '../../../src/wire/sse.ts'
import type { Random } from '../random.ts'
import { events } from '../reading.ts'
import { target } from '../target.ts'

const pieces = [
  'data: a',
  'data:é😀',
  'data',
  'id: 1',
  'id: 2\0',
  'id',
  'event: t',
  'retry: 50',
  'retry: 5x',
  ': note',
  'other: x',
  '\ufeff',
  '\n',
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  '\r\n\r\n',
] as const

/** Event streams, in any cutting, against a reader that splits the whole text at once. */
export const sseTarget = target(
  'sse',
  random => {
    const bytes = Buffer.concat([random.mix(pieces, 30), made(random), random.mix(pieces, 6)])
    return { bytes, cut: random.cut(bytes), maxBytes: random.int(40) }
  },
  ({ bytes, cut, maxBytes }) => {
    const whole = events([bytes], 10_000)
    assert.deepEqual(whole.map(withoutDamage), expectedEvents(bytes))
    assert.deepEqual(events(cut, 10_000), whole)
    assert.deepEqual(events(cut, maxBytes), events([bytes], maxBytes))
  },
)

function made(random: Random): Buffer {
  const data = Buffer.from(random.mix(pieces, 5)).toString('latin1')
  return Buffer.from(writeEvent({ data, id: `${random.int(10)}`, retry: random.int(10) }))
}

function withoutDamage(told: string): string {
  return told.replace(/,"damaged":(true|false)}$/, '}')
}

/** The rules of WHATWG HTML, "Interpreting an event stream", in their own order. */
function expectedEvents(bytes: Uint8Array): string[] {
  const told: string[] = []
  // A TextDecoder drops one leading mark by itself.
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\r|\n/)
  lines.pop()
  let data = ''
  let type = ''
  let id = ''
  let lastId = ''
  for (const line of lines) {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (line === '') {
      lastId = id
      const event = { data: data.slice(0, -1), event: type || 'message', id }
      if (data !== '') told.push(JSON.stringify(event))
      data = ''
      type = ''
    } else if (name === 'data') data += `${value}\n`
    else if (name === 'event') type = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^\d+$/.test(value)) told.push(`retry ${value}`)
  }
  return [...told, `last id ${JSON.stringify(lastId)}`]
}

import assert from 'node:assert/strict'
import { writeComment, writeEvent, writeLine } from '../../../src/wire/sse.ts'
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

/** Event streams, however they are split, against a reader of the whole text. */
export const sseTarget = target(
  'sse',
  random => {
    const bytes = Buffer.concat([random.mix(pieces, 30), made(random), random.mix(pieces, 6)])
    const text = Buffer.from(random.mix(pieces, 5)).toString()
    return { bytes, cut: random.cut(bytes), maxBytes: random.int(40), text }
  },
  ({ bytes, cut, maxBytes, text }) => {
    const whole = events([bytes], 10_000)
    assert.deepEqual(whole.map(withoutDamage), expectedEvents(bytes))
    assert.deepEqual(events(cut, 10_000), whole)
    assert.deepEqual(events(cut, maxBytes), events([bytes], maxBytes))
    checkWritten(text)
  },
)

/** Checks that written events are read back, and that comments are not. */
function checkWritten(text: string): void {
  const line = JSON.stringify(text)
  const written = [
    writeEvent({ data: text, event: 't', id: '7' }),
    writeComment(text),
    writeLine(line, 'id: 8\n'),
  ]
  const sent = [
    { data: text.replace(/\r\n?/g, '\n'), event: 't', id: '7', damaged: false },
    { data: line, event: 'message', id: '8', damaged: false },
  ]
  const expected = [...sent.map(event => JSON.stringify(event)), 'last id "8"']
  assert.deepEqual(events([Buffer.from(written.join(''))], 10_000), expected)
}

function made(random: Random): Buffer {
  const data = Buffer.from(random.mix(pieces, 5)).toString('latin1')
  return Buffer.from(writeEvent({ data, id: `${random.int(10)}`, retry: random.int(10) }))
}

function withoutDamage(reports: string): string {
  return reports.replace(/,"damaged":(true|false)}$/, '}')
}

/** The rules of WHATWG HTML, "Interpreting an event stream", in their own order. */
function expectedEvents(bytes: Uint8Array): string[] {
  const reports: string[] = []
  // A TextDecoder drops one leading byte order mark.
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
      if (data !== '') reports.push(JSON.stringify(event))
      data = ''
      type = ''
    } else if (name === 'data') data += `${value}\n`
    else if (name === 'event') type = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^\d+$/.test(value)) reports.push(`retry ${value}`)
  }
  return [...reports, `last id ${JSON.stringify(lastId)}`]
}

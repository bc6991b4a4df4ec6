import { describe, expect, it } from 'vitest'
import type { CallRow } from '../../src/console/wire.ts'
import { readAddress, writeAddress } from './address.ts'
import { attentionOf } from './attention.ts'
import { callFilter } from './filter.ts'
import { bytes, duration, figure, visible } from './format.ts'

const row: CallRow = {
  seq: 1,
  at: 0,
  ms: 600,
  method: 'tools/call',
  name: 'files__read',
  server: 'files',
  client: 'Cursor',
  outcome: 'error',
  reason: 'HTTP 503',
  retries: 1,
}

describe('the filter of calls', () => {
  it.each([
    ['', true],
    ['server:files', true],
    ['server:mail', false],
    ['is:failed slower:500ms', true],
    ['slower:1s', false],
    ['faster:1s caller:cursor', true],
    ['is:retried 503', true],
    ['-server:files', false],
    ['-is:running', true],
    ['unknown:thing', false],
  ])('%s: %s', (text, expected) => {
    expect(callFilter(text)(row)).toBe(expected)
  })
})

describe('the address', () => {
  it.each(['#/', '#/traffic?q=a%3Ab&sel=3', '#/servers/my%20files'])(
    '%s is read and written',
    text => {
      expect(writeAddress(readAddress(text))).toBe(text)
    },
  )
})

describe('numbers', () => {
  it('have three significant figures and a unit', () => {
    expect([figure(0.1234), figure(12345), duration(1234), bytes(3_940_000)]).toEqual([
      '0.123',
      '12 345',
      '1.23 s',
      '3.94 MB',
    ])
  })
})

it('shows invisible characters and those that change the direction as numbers', () => {
  expect(visible('a\u202Eb\u200Bc\nd')).toBe('a⟨U+202E⟩b⟨U+200B⟩c\nd')
})

describe('what needs attention', () => {
  const point = {
    at: 0,
    ok: 0,
    failed: 0,
    toolErrors: 0,
    refused: 0,
    p50: null,
    p90: null,
    p99: null,
  }
  const rest = { inFlight: 0, queued: 0, sessions: 0, memory: 0, busy: 0, servers: {} }
  const known = { servers: [], pins: [], figures: [] }

  it('is nothing if all is well', () => {
    expect(attentionOf(known)).toEqual([])
  })

  it('is a caller that sends more than it may', () => {
    const figures = [{ ...point, ...rest, refused: 12 }]
    expect(attentionOf({ ...known, figures })[0]?.text).toContain('limits refuse 12 calls/s')
  })

  it('is a server that answers nothing', () => {
    const figures = Array.from({ length: 10 }, () => ({ ...point, ...rest, inFlight: 2 }))
    expect(attentionOf({ ...known, figures })[0]?.text).toContain('2 calls are in flight')
  })

  it('is a tool that has changed', () => {
    const pin = {
      server: 'mail',
      tool: 'send',
      summary: 'description',
      differences: [],
      invisible: 0,
      digest: '',
      isBlocked: true,
    }
    expect(attentionOf({ ...known, pins: [pin] })[0]).toMatchObject({
      level: 'warn',
      subject: 'mail',
    })
  })
})

import { expect, test } from 'vitest'
import { proves } from './requirements.ts'
import { read } from './sources.ts'

/** A page as one line, however it is wrapped. */
const page = (name: string): string => read(`docs/${name}`).replace(/\s+/g, ' ')

test('the dialects of JSON Schema that are supported are documented', () => {
  proves('B17d')
  expect(page('servers.md')).toContain('2020-12 unless `$schema` names draft-07')
})

test('what tasks are where the other side does not know them is documented', () => {
  proves('V10c')
  expect(page('servers.md')).toContain('callers that do not know tasks are told what they lack')
})

test('where ids alone protect tasks, and the limits of tasks, are documented', () => {
  proves('K16f', 'K17d')
  const text = page('servers.md')
  expect(text).toContain('to whoever knows its id, which cannot be guessed')
  for (const option of ['`ttlMs`, `maxTtlMs`', '`max`, `maxPerCaller`']) {
    expect(text).toContain(option)
  }
})

test('how connections are made, messages framed and requests cancelled is documented', () => {
  proves('T8c')
  const text = page('transports.md')
  for (const words of ['## Addresses', '## Framings', 'cancelled by the notification']) {
    expect(text).toContain(words)
  }
})

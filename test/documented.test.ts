import { expect, test } from 'vitest'
import { proves } from './requirements.ts'
import { read } from './sources.ts'

/** Returns the text of a page as one line, regardless of how it is wrapped. */
const page = (name: string): string => read(`docs/${name}`).replace(/\s+/g, ' ')

test('the supported dialects of JSON Schema are documented', () => {
  proves('B17d')
  expect(page('servers.md')).toContain('2020-12 unless `$schema` names draft-07')
})

test('the effect of tasks on callers without support for them is documented', () => {
  proves('V10c')
  expect(page('servers.md')).toContain(
    'a caller without support for tasks gets an error that names the missing capability',
  )
})

test('where only ids protect tasks, and the limits of tasks, are documented', () => {
  proves('K16f', 'K17d')
  const text = page('servers.md')
  expect(text).toContain("any caller that knows the task's id can use it; ids cannot be guessed")
  for (const option of ['`ttlMs`, `maxTtlMs`', '`max`, `maxPerCaller`']) {
    expect(text).toContain(option)
  }
})

test('how connections are made, messages framed and requests cancelled is documented', () => {
  proves('T8c')
  const text = page('transports.md')
  for (const words of ['## Addresses', '## Framings', '`notifications/cancelled`']) {
    expect(text).toContain(words)
  }
})

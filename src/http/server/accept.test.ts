import { expect, test } from 'vitest'
import { acceptsOf } from './accept.ts'

const rows: readonly (readonly [string | undefined, boolean, boolean])[] = [
  [undefined, true, true],
  ['application/json, text/event-stream', true, true],
  ['text/event-stream,application/json', true, true],
  ['application/json', true, false],
  ['text/event-stream', false, true],
  ['*/*', true, true],
  ['text/*;q=0.5', false, true],
  ['application/*', true, false],
  ['Application/JSON; q=1', true, false],
  ['application/json;q=0, text/event-stream', false, true],
  ['application/json;q=0.000, text/event-stream;q=0.001', false, true],
  ['text/html', false, false],
  ['', false, false],
]

test.each(rows)('Accept: %s', (header, json, events) => {
  expect(acceptsOf(header)).toEqual({ json, events })
})

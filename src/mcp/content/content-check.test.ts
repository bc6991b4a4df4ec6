import { describe, expect, test } from 'vitest'
import { contentFault, isBase64, isMediaType } from './content-check.ts'

describe('Base64', () => {
  test.each([
    ['', true],
    ['YQ==', true],
    ['YWI=', true],
    ['YWJj', true],
    ['a+/9', true],
    ['YQ=', false],
    ['YQ', false],
    ['Y===', false],
    ['====', false],
    ['YQ==YWJj', false],
    ['YW=j', false],
    ['YWJj\n', false],
    ['a-_9', false],
    ['not base64!!', false],
    ['%%%', false],
    ['äöüß', false],
  ])('%j: %j', (text, isValid) => {
    expect(isBase64(text)).toBe(isValid)
  })

  test('of several megabytes is read to its end', () => {
    const data = 'abcd'.repeat(1_000_000)
    expect([isBase64(data), isBase64(`${data}YQ==`), isBase64(`${data}a!==`)]).toEqual([
      true,
      true,
      false,
    ])
  })
})

test.each([
  ['image/png', true],
  ['text/plain; charset=utf-8', true],
  ['text/html;profile="mcp app"', true],
  ['application/vnd.api+json', true],
  ['png', false],
  ['nonsense', false],
  ['', false],
  ['image/', false],
  ['/png', false],
  ['image/png/x', false],
  ['image /png', false],
  ['image/png; x', false],
])('%j is a media type: %j', (text, isValid) => {
  expect(isMediaType(text)).toBe(isValid)
})

test.each([
  [{ type: 'text', text: '%%%' } as const, undefined],
  [{ type: 'image', data: '%%%', mimeType: 'image/png' } as const, 'data is not Base64'],
  [
    { type: 'audio', data: 'YQ==', mimeType: 'wav' } as const,
    'mimeType is not a media type such as "image/png": "wav"',
  ],
  [
    { type: 'resource', resource: { uri: 'a:b', blob: '%%%' } } as const,
    'resource.blob is not Base64',
  ],
  [{ type: 'resource_link', uri: 'a:b', name: 'b' } as const, undefined],
])('%j: %s', (block, fault) => {
  expect(contentFault(block)).toBe(fault)
})

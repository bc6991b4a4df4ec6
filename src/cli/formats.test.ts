import { expect, test } from 'vitest'
import { argumentText, contentText, resourceText, typeText } from './formats.ts'

test('the arguments of a tool are formatted in short form', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  }
  expect(argumentText(schema)).toBe('city: string, days?: integer')
  expect(argumentText({ type: 'object' })).toBe('')
  expect(argumentText(undefined)).toBe('')
})

test.each([
  [{ type: 'string' }, 'string'],
  [{ type: ['string', 'null'] }, 'string|null'],
  [{ enum: ['a', 1] }, '"a"|1'],
  [{ const: 'x' }, '"x"'],
  [{ type: 'array', items: { type: 'number' } }, 'number[]'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string|number'],
  [{ $ref: '#/$defs/a' }, 'any'],
  [true, 'any'],
])('the type %j is %s', (schema, expected) => {
  expect(typeText(schema)).toBe(expected)
})

test.each([
  [{ type: 'text', text: 'a\u001bb' }, 'a\ufffdb'],
  [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }, '[image image/png, 3 B]'],
  [{ type: 'audio', mimeType: 'audio/wav' }, '[audio audio/wav, no data]'],
  [{ type: 'resource_link', uri: 'a://b', name: 'B' }, '[link a://b: B]'],
  [{ type: 'resource', resource: { uri: 'a://b', text: 'hello' } }, 'hello'],
  [{ type: 'hologram' }, '[content of type "hologram"]'],
  [5, '[invalid content]'],
])('the content %j is shown', (block, expected) => {
  expect(contentText(block, true)).toBe(expected)
})

test('text is written unchanged to a pipe', () => {
  expect(contentText({ type: 'text', text: 'a\u001bb' }, false)).toBe('a\u001bb')
  expect(resourceText({ uri: 'a://b', text: 'a\u001bb' }, false)).toBe('a\u001bb')
})

test('binary data of a resource is described', () => {
  expect(resourceText({ uri: 'a://b', blob: 'AAAA', mimeType: 'x/y' }, true)).toBe(
    '[binary data of a://b, x/y 3 B]',
  )
})

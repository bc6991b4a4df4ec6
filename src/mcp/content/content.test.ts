import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  audio,
  embed,
  errorResult,
  image,
  isContent,
  link,
  promptResult,
  resourceContents,
  resourceResult,
  structuredResult,
  text,
  toBase64,
  toolOutput,
  toolResult,
} from './content.ts'

const bytes = new Uint8Array([0, 1, 254, 255])
const encoded = 'AAH+/w=='
const annotations = { audience: ['user'], priority: 1 } as const

describe('a block of content', () => {
  const blocks = [
    { name: 'text', made: text('hi'), is: { type: 'text', text: 'hi' } },
    { name: 'empty text', made: text(''), is: { type: 'text', text: '' } },
    {
      name: 'an image of bytes',
      made: image(bytes, 'image/png'),
      is: { type: 'image', data: encoded, mimeType: 'image/png' },
    },
    {
      name: 'sound in Base64',
      made: audio(encoded, 'audio/wav', annotations),
      is: { type: 'audio', data: encoded, mimeType: 'audio/wav', annotations },
    },
    {
      name: 'a link',
      made: link('x:y', { name: 'y', size: 3, annotations }),
      is: { type: 'resource_link', uri: 'x:y', name: 'y', size: 3, annotations },
    },
    {
      name: 'a link without a name',
      made: link('x:y'),
      is: { type: 'resource_link', uri: 'x:y', name: 'x:y' },
    },
    {
      name: 'a resource of text',
      made: embed({ uri: 'x:y', text: '' }),
      is: { type: 'resource', resource: { uri: 'x:y', text: '' } },
    },
    {
      name: 'a resource of bytes',
      made: embed({ uri: 'x:y', mimeType: 'a/b', blob: bytes }, annotations),
      is: {
        type: 'resource',
        resource: { uri: 'x:y', mimeType: 'a/b', blob: encoded },
        annotations,
      },
    },
    {
      name: 'a resource in Base64',
      made: embed({ uri: 'x:y', blob: encoded }),
      is: { type: 'resource', resource: { uri: 'x:y', blob: encoded } },
    },
  ]

  test.each(blocks)('$name has the shape of the protocol', ({ made, is }) => {
    expect(made).toStrictEqual(is)
  })

  test.each(blocks)('$name is recognized', ({ made }) => {
    expect(isContent(made)).toBe(true)
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'text'],
    ['an array', [text('hi')]],
    ['another type', { type: 'tool_use', id: '1', name: 'x', input: {} }],
    ['the name of an inherited member', { type: 'constructor' }],
    ['text without its text', { type: 'text' }],
    ['text of another type', { type: 'text', text: 1 }],
    ['an image without a media type', { type: 'image', data: '' }],
    ['sound of bytes', { type: 'audio', data: bytes, mimeType: 'audio/wav' }],
    ['a link without a name', { type: 'resource_link', uri: 'x:y' }],
    ['a resource without contents', { type: 'resource', resource: { uri: 'x:y' } }],
    ['a resource of bytes', { type: 'resource', resource: { uri: 'x:y', blob: bytes } }],
  ])('%s is none', (_, value) => {
    expect(isContent(value)).toBe(false)
  })
})

describe('Base64', () => {
  test('of any bytes decodes to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), array => {
        expect(toBase64(array)).toBe(Buffer.from(array).toString('base64'))
      }),
    )
  })

  test('of a part of a buffer is that part only', () => {
    const part = new Uint8Array(bytes.buffer, 1, 2)
    expect(toBase64(part)).toBe('Af4=')
  })
})

class Row {
  readonly id = 1
  readonly save = (): void => {}
}

describe('the return value of a tool', () => {
  const block = text('hi')
  const failed = { content: [block], isError: true }

  test.each([
    ['a string', 'hi', { content: [block] }],
    ['an empty string', '', { content: [text('')] }],
    ['zero', 0, { content: [text('0')] }],
    ['a large integer', 2n ** 64n, { content: [text('18446744073709551616')] }],
    ['false', false, { content: [text('false')] }],
    ['nothing', undefined, { content: [] }],
    ['null', null, { content: [] }],
    ['a block', block, { content: [block] }],
    ['blocks', [block, image('', 'image/png')], { content: [block, image('', 'image/png')] }],
    ['no blocks', [], { content: [] }],
    ['an object', { a: 1 }, { content: [text('{"a":1}')] }],
    ['strings', ['a', 'b'], { content: [text('["a","b"]')] }],
    ['strings and blocks', ['a', block], { content: [text('a'), block] }],
    ['a date', new Date(0), { content: [text('"1970-01-01T00:00:00.000Z"')] }],
    ['an instance of a class', new Row(), { content: [text('{"id":1}')] }],
    ['something like a block', { type: 'text' }, { content: [text('{"type":"text"}')] }],
    ['a result', { content: [block], _meta: { a: 1 } }, { content: [block], _meta: { a: 1 } }],
    ['a result without content', { content: [] }, { content: [] }],
    ['a failure', failed, failed],
    ['something like a result', { content: ['a'] }, { content: [text('{"content":["a"]}')] }],
    [
      'a structured result without content',
      { structuredContent: { a: 1 } },
      { content: [text('{"a":1}')], structuredContent: { a: 1 } },
    ],
  ])('without an output schema: %s', (_, value, result) => {
    expect(toolResult(value)).toStrictEqual(result)
  })

  const structured = (value: unknown) => ({
    content: [text(JSON.stringify(value))],
    structuredContent: value,
  })

  test.each([
    ['an object', { a: 1 }, structured({ a: 1 })],
    ['an array', [1], structured([1])],
    ['a string', 'hi', structured('hi')],
    ['zero', 0, structured(0)],
    ['null', null, structured(null)],
    ['an object like a block', block, structured(block)],
    ['an object with content', { content: [] }, structured({ content: [] })],
    [
      'a result',
      { content: [block], structuredContent: { a: 1 } },
      { content: [block], structuredContent: { a: 1 } },
    ],
    [
      'a result without content',
      { structuredContent: [], _meta: {} },
      { ...structured([]), _meta: {} },
    ],
  ])('with an output schema: %s', (_, value, result) => {
    const output = toolOutput(value)
    expect(structuredResult(output, output.structured)).toStrictEqual(result)
  })

  test('must be representable as JSON', () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    expect(() => toolResult(circle)).toThrow(TypeError)
    expect(() => structuredResult(toolOutput({ n: 1n }), { n: 1n })).toThrow(TypeError)
  })
})

describe('the return value of a tool is refused', () => {
  async function* steps() {
    yield 1
  }

  test.each([
    ['a function', () => 'secret', 'the value is a function'],
    ['a symbol', { s: Symbol('s') }, '"s" is a symbol'],
    ['a Map', new Map(), 'the value is Map, which JSON cannot represent'],
    ['a Set inside', { ids: new Set([1]) }, '"ids" is Set, which JSON cannot represent'],
    ['a Map in a list', { a: [{ b: new Map() }] }, '"a"[0].b is Map, which JSON cannot represent'],
    ['bytes', new Uint8Array(1), 'the value is Uint8Array: encode bytes as Base64'],
    ['a Buffer inside', { data: Buffer.from('a') }, '"data" is Uint8Array: encode bytes'],
    ['an ArrayBuffer', new ArrayBuffer(1), 'the value is ArrayBuffer: encode bytes'],
    ['a Response', new Response('x'), 'the value is Response, which'],
    ['a stream', new ReadableStream(), 'the value is ReadableStream, which'],
    ['an async generator', steps(), 'report steps with ctx.progress()'],
    ['an iterator', [1].values(), 'the value is Array Iterator, which'],
    ['a function in data', { f: () => 1 }, '"f" is a function'],
  ])('if it is %s', (_, value, message) => {
    expect(() => toolResult(value)).toThrow(message)
    expect(() => structuredResult(toolOutput(value), value)).toThrow(message)
    const given = { content: [], structuredContent: { given: value } }
    expect(() => structuredResult(toolOutput(given), given.structuredContent)).toThrow(TypeError)
  })
})

describe('the exception of a tool', () => {
  test.each([
    ['an error by its message', new Error('no such city'), 'no such city'],
    ['an error without a message by its name', new RangeError(), 'RangeError'],
    ['a string as it is', 'no', 'no'],
    ['anything else not at all', { password: 'x' }, 'The tool failed'],
  ])('shows %s', (_, thrown, words) => {
    expect(errorResult(thrown)).toStrictEqual({ content: [text(words)], isError: true })
  })
})

describe('the return value of a prompt', () => {
  const userMessage = { role: 'user', content: text('hi') } as const
  const answer = { role: 'assistant', content: text('yes?') } as const

  test.each([
    ['a string', 'hi', [userMessage]],
    ['a block', text('hi'), [userMessage]],
    ['a message', answer, [answer]],
    ['messages', [userMessage, answer], [userMessage, answer]],
    ['all of them', ['hi', text('hi'), answer], [userMessage, userMessage, answer]],
    ['no messages', [], []],
  ])('%s', (_, value, messages) => {
    expect(promptResult(value)).toStrictEqual({ messages })
  })

  test('a complete result is kept', () => {
    const result = { description: 'd', messages: [answer] }
    expect(promptResult(result)).toBe(result)
  })

  test.each([
    ['nothing', undefined],
    ['a number', 1],
    ['a message of a stranger', { role: 'system', content: text('hi') }],
    ['a message of strings', { role: 'user', content: 'hi' }],
    ['messages with something else', ['hi', null]],
    ['a result with something else', { messages: ['hi'] }],
  ])('%s is refused', (_, value) => {
    expect(() => promptResult(value)).toThrow(TypeError)
  })
})

describe('the return value of a resource', () => {
  const uri = 'file:///a'
  const other = { uri: 'file:///a/b', text: 'b' }

  test.each([
    ['a string', undefined, 'hi', [{ uri, text: 'hi' }]],
    ['an empty string', 'text/plain', '', [{ uri, mimeType: 'text/plain', text: '' }]],
    ['bytes', 'image/png', bytes, [{ uri, mimeType: 'image/png', blob: encoded }]],
    ['bytes of Node', undefined, Buffer.from(bytes), [{ uri, blob: encoded }]],
    ['contents', 'text/plain', other, [other]],
    ['contents of bytes', undefined, { uri, blob: bytes }, [{ uri, blob: encoded }]],
    ['several', undefined, [other, { uri, blob: encoded }], [other, { uri, blob: encoded }]],
    ['an object', undefined, { a: 1 }, [{ uri, mimeType: 'application/json', text: '{"a":1}' }]],
    ['an object of a type', 'a/b+json', { a: 1 }, [{ uri, mimeType: 'a/b+json', text: '{"a":1}' }]],
    ['an empty array', undefined, [], [{ uri, mimeType: 'application/json', text: '[]' }]],
    ['strings', 'a/b', ['x'], [{ uri, mimeType: 'a/b', text: '["x"]' }]],
    ['a number', 'text/plain', 0, [{ uri, mimeType: 'text/plain', text: '0' }]],
    ['nothing', 'text/plain', undefined, []],
    ['null', 'text/plain', null, []],
  ])('%s', (_, mimeType, value, contents) => {
    expect(resourceContents(uri, mimeType, value)).toStrictEqual(contents)
    expect(resourceResult(uri, mimeType, value)).toStrictEqual({ contents })
  })

  test('a complete result is kept, with its bytes encoded', () => {
    const result = { contents: [other, { uri, blob: bytes }], ttlMs: 5, cacheScope: 'public' }
    expect(resourceResult(uri, undefined, result)).toStrictEqual({
      ...result,
      contents: [other, { uri, blob: encoded }],
    })
  })

  test('an object with other contents is JSON like any other', () => {
    expect(resourceResult(uri, undefined, { contents: [1] })).toStrictEqual({
      contents: [{ uri, mimeType: 'application/json', text: '{"contents":[1]}' }],
    })
  })
})

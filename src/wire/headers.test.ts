import { describe, expect, test } from 'vitest'
import { frames, halves, latin1, singles } from '../../test/fuzz/reading.ts'
import { limits } from '../util/limits/limits.ts'
import { headers } from './headers.ts'

const maxBlock = limits.headerBytes.default
const noNumber = ['broken invalid Content-Length']
const noHeader = ['broken invalid header line']
const block = 'Content-Length: 2\r\n'

const cases: readonly [what: string, input: string, events: readonly string[]][] = [
  ['nothing gives nothing', '', []],
  ['one header and a frame', `${block}\r\nab`, ['frame ab']],
  ['frames follow each other at once', `${block}\r\nab${block}\r\ncd`, ['frame ab', 'frame cd']],
  ['line feeds alone end the lines', 'Content-Length: 2\n\nab', ['frame ab']],
  ['names have no case', 'cONTENT-lENGTH: 2\r\n\r\nab', ['frame ab']],
  ['space around the value is optional', 'Content-Length:\t 2 \t\r\n\r\nab', ['frame ab']],
  ['no space is needed', 'Content-Length:2\r\n\r\nab', ['frame ab']],
  ['leading noughts change nothing', 'Content-Length: 002\r\n\r\nab', ['frame ab']],
  ['other headers are passed over', `X-A: b\r\n${block}X-C:\r\n\r\nab`, ['frame ab']],
  ['the same length twice is one length', `${block}${block}\r\nab`, ['frame ab']],
  ['a length of 0 is ignored', `Content-Length: 0\r\n\r\n${block}\r\nab`, ['frame ab']],
  ['a frame of exactly the limit fits', 'Content-Length: 8\r\n\r\n12345678', ['frame 12345678']],
  [
    'one over the limit is skipped',
    `Content-Length: 9\r\n\r\n123456789${block}\r\nab`,
    ['oversize', 'frame ab'],
  ],
  [
    'the largest length is skipped',
    `Content-Length: ${2 ** 53 - 1}\r\n\r\nab`,
    ['oversize', 'unfinished'],
  ],
  [
    'a header looking like a body is a body',
    `${block}\r\n\r\n${block}\r\nab`,
    ['frame \r\n', 'frame ab'],
  ],
  ['a block without a length', 'X-A: b\r\n\r\n', ['broken no Content-Length']],
  ['an empty block', '\r\nab', ['broken no Content-Length']],
  [
    'the length of the block before does not count',
    `${block}\r\nab\r\n`,
    ['frame ab', 'broken no Content-Length'],
  ],
  [
    'two different lengths',
    `${block}Content-Length: 3\r\n\r\nab`,
    ['broken conflicting Content-Length headers'],
  ],
  ['a negative length', 'Content-Length: -2\r\n', noNumber],
  ['a signed length', 'Content-Length: +2\r\n', noNumber],
  ['a fraction', 'Content-Length: 2.0\r\n', noNumber],
  ['an exponent', 'Content-Length: 2e0\r\n', noNumber],
  ['a hexadecimal length', 'Content-Length: 0x2\r\n', noNumber],
  ['a list', 'Content-Length: 2, 2\r\n', noNumber],
  ['digits of another script', 'Content-Length: \xd9\xa2\r\n', noNumber],
  ['a no-break space', 'Content-Length: \xc2\xa02\r\n', noNumber],
  ['an empty length', 'Content-Length:\r\n', noNumber],
  ['2^53', `Content-Length: ${2 ** 53}\r\n`, noNumber],
  ['far more than any number', `Content-Length: ${'9'.repeat(400)}\r\n`, noNumber],
  ['a line without a colon', 'hello\r\n', noHeader],
  ['a nameless header', ': 2\r\n', noHeader],
  ['space before the colon', 'Content-Length : 2\r\n', noHeader],
  ['a folded line', `${block} 3\r\n`, noHeader],
  ['a carriage return inside a line', 'X-A: b\rContent-Length: 3\r\n', noHeader],
  ['a byte order mark', `\xef\xbb\xbf${block}\r\nab`, noHeader],
  ['a JSON message without headers', '{"jsonrpc":"2.0"}\n', noHeader],
  ['nothing is read after the break', `hello\r\n${block}\r\nab`, noHeader],
  ['half a header is unfinished', 'Content-Le', ['unfinished']],
  ['a block without its end is unfinished', block, ['unfinished']],
  ['half a frame is unfinished', `${block}\r\na`, ['unfinished']],
]

describe('reading frames behind headers', () => {
  test.each(cases)('%s', (_, input, events) => {
    const bytes = latin1(input)
    expect(frames(headers, [bytes], 8)).toEqual(events)
    expect(frames(headers, singles(bytes), 8)).toEqual(events)
    for (const pieces of halves(bytes)) expect(frames(headers, pieces, 8)).toEqual(events)
  })

  test.each([
    ['application/vscode-jsonrpc', true],
    ['application/vscode-jsonrpc; charset=utf-8', true],
    ['application/vscode-jsonrpc;charset=utf8', true],
    ['application/vscode-jsonrpc; version=1; Charset="UTF-8"', true],
    ['text/plain; note=charset', true],
    ['application/vscode-jsonrpc; charset=latin1', false],
    ['application/vscode-jsonrpc; charset=utf-16', false],
    ['application/vscode-jsonrpc; charset=', false],
    ['application/vscode-jsonrpc; charset', false],
    ['application/vscode-jsonrpc; charset=x; charset=y', false],
  ])('the content type %j is accepted: %s', (type, accepted) => {
    const bytes = latin1(`Content-Type: ${type}\r\n${block}\r\nab`)
    const events = accepted ? ['frame ab'] : ['broken unsupported charset: only utf-8 is accepted']
    expect(frames(headers, [bytes], 8)).toEqual(events)
    expect(frames(headers, singles(bytes), 8)).toEqual(events)
  })

  test.each([
    ['exactly the limit fits', maxBlock, ['frame ab']],
    ['one byte over', maxBlock + 1, [`broken headers over ${maxBlock} bytes`]],
  ])('a header block is bounded: %s', (_, size, events) => {
    const filling = 'x'.repeat(size - `${block}X: \r\n\r\n`.length)
    const bytes = latin1(`X: ${filling}\r\n${block}\r\nab`)
    expect(frames(headers, [bytes], 8)).toEqual(events)
    expect(frames(headers, singles(bytes), 8)).toEqual(events)
  })

  test('many short headers are bounded like one long one', () => {
    const events = frames(headers, [latin1('X: y\r\n'.repeat(maxBlock))], 8)
    expect(events).toEqual([`broken headers over ${maxBlock} bytes`])
  })

  test('each block has the whole bound to itself', () => {
    const frame = `X: ${'x'.repeat(maxBlock / 2)}\r\n${block}\r\nab`
    expect(frames(headers, [latin1(frame.repeat(5))], 8)).toEqual(Array(5).fill('frame ab'))
  })
})

test('the written header counts bytes, not characters', () => {
  expect(Buffer.from(headers.write('é')).toString()).toBe('Content-Length: 2\r\n\r\né')
})

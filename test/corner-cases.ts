import type { DecodeOptions } from '../src/jsonrpc/codec/decode.ts'
import { decodeOptions, profiles } from '../src/mcp/profile.ts'

/** One input and the expected response; `''` if there is none. */
export interface Case {
  readonly input: string | Uint8Array
  readonly reply: string
  /** How the input arrives: as one message, or as bytes to be split into lines. */
  readonly over?: 'message' | 'lines'
  readonly options?: DecodeOptions
  /** The outcome of a pending call with the id 1: a result, or the code of its error. */
  readonly outcome?: unknown
}

/** A row of the table in `docs/limits.md`, with the cases that prove it. */
export interface CornerCase {
  readonly what: string
  readonly happens: string
  readonly cases: readonly Case[]
}

const answer = (id: string, member: string) => `{"jsonrpc":"2.0","id":${id},${member}}`
const fails = (code: number, message: string) => (id: string) =>
  answer(id, `"error":{"code":${code},"message":"${message}"}`)

const parseError = fails(-32700, 'Parse error')('null')
const invalid = fails(-32600, 'Invalid Request')
const unknownMethod = fails(-32601, 'Method not found')
const result = (id: string, value: string) => answer(id, `"result":${value}`)

const request = (id: string, method = '"echo"', rest = '') =>
  `{"jsonrpc":"2.0","id":${id},"method":${method}${rest}}`
const echo = (params: string) => request('1', '"echo"', `,"params":${params}`)
const taken = (params: string, back = params): Case => ({
  input: echo(params),
  reply: result('1', back),
})
const refused = (input: string | Uint8Array, id = 'null'): Case => ({ input, reply: invalid(id) })
const noJson = (input: string | Uint8Array): Case => ({ input, reply: parseError })
const lines = (input: string, reply: string): Case => ({ input, reply, over: 'lines' })
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const list = (length: number, item: string) => `[${Array(length).fill(item).join(',')}]`
const erlmcp = decodeOptions(profiles.erlmcp)
const mcp = decodeOptions(profiles.mcp)

const bytes: readonly CornerCase[] = [
  {
    what: 'nothing, or only white space',
    happens: '-32700. As a separate line it is ignored',
    cases: [noJson(''), noJson(' \t '), lines('\n\r\n', ''), lines(' \t\r\n', '')],
  },
  {
    what: 'a byte order mark',
    happens: '-32700. At the very beginning of a child process’s output it is ignored',
    cases: [noJson(`\ufeff${request('1')}`), noJson(new TextEncoder().encode(`\ufeff{}`))],
  },
  {
    what: 'bytes that are not UTF-8',
    happens: '-32700; never replaced silently',
    cases: [
      noJson(Uint8Array.of(0x22, 0xff, 0x22)),
      noJson(Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)),
      noJson(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)),
    ],
  },
  {
    what: 'a control character in a string',
    happens: '-32700; as an escape (`\\u0000`) it is accepted, and sent back as an escape',
    cases: [noJson(echo('["\u0000"]')), noJson(echo('["\t"]')), taken('["\\u0000"]')],
  },
  {
    what: 'a lone surrogate, as an escape',
    happens: 'accepted in params, and sent back as an escape; -32600 in a method or id',
    cases: [
      taken('["\\ud800"]'),
      refused(request('1', '"\\ud800"'), '1'),
      refused(request('"\\udc00"')),
    ],
  },
  {
    what: '`\\r\\n`; U+2028, U+2029, U+0085 in a string',
    happens: 'only the byte 0x0A ends a line; a 0x0D directly before it is dropped',
    cases: [
      lines(`${request('1')}\r\n`, result('1', 'null')),
      lines(`${echo('["\u2028\u2029\u0085"]')}\n`, result('1', '["\u2028\u2029\u0085"]')),
    ],
  },
  {
    what: 'a last line without a line break',
    happens: 'dropped; the connection closes with the code `framing`',
    cases: [lines(request('1'), '')],
  },
  {
    what: 'a message over the size limit',
    happens: '-32012, with the limit in the data; the id is null, because the message was not read',
    cases: [
      {
        input: request('1'),
        options: { maxBytes: 10 },
        reply: answer(
          'null',
          '"error":{"code":-32012,"message":"Message size exceeds maximum allowed","data":{"maxSize":10,"unit":"bytes"}}',
        ),
      },
    ],
  },
]

const structure: readonly CornerCase[] = [
  {
    what: 'text that is not JSON',
    happens: '-32700; in a batch, for the whole batch',
    cases: [
      noJson('{"jsonrpc":"2.0","method":"echo"'),
      noJson(`${request('1')} x`),
      noJson(`[${request('1')},]`),
      noJson('NaN'),
    ],
  },
  {
    what: 'JSON that is not an object',
    happens: '-32600',
    cases: [refused('1'), refused('"echo"'), refused('null')],
  },
  {
    what: 'nesting deeper than 64',
    happens: '-32600 with the id, before parsing',
    cases: [taken(nested(63)), refused(echo(nested(64)), '1'), refused('['.repeat(100_000))],
  },
  {
    what: 'more than 100 000 keys and values, and more than one for every 16 bytes',
    happens: '-32600 with the id, before parsing',
    cases: [refused(echo(list(100_001, '1')), '1')],
  },
  {
    what: 'a member of JSON-RPC twice, even if written with an escape (`"\\u006dethod"`)',
    happens: '-32600; with the id, unless the id is the repeated member',
    cases: [
      refused(request('1', '"echo"', ',"method":"other"'), '1'),
      refused(request('1', '"echo"', ',"\\u006dethod":"other"'), '1'),
      refused(request('1', '"echo"', ',"id":1')),
    ],
  },
  {
    what: 'a member of params twice',
    happens: 'the last one is used',
    cases: [taken('{"a":1,"a":2}', '{"a":2}')],
  },
  {
    what: 'unknown members',
    happens: 'ignored, never sent back',
    cases: [{ input: request('1', '"echo"', ',"x":[1],"Params":[2]'), reply: result('1', 'null') }],
  },
  {
    what: '`__proto__`, `constructor`, `then` and the like',
    happens: 'ordinary names: -32601 as a method, a plain member in params',
    cases: [
      ...['__proto__', 'constructor', 'toString', 'then'].map(name => ({
        input: request('1', `"${name}"`),
        reply: unknownMethod('1'),
      })),
      taken('{"__proto__":{"admin":true}}'),
      taken('{"then":1}'),
    ],
  },
  {
    what: 'numbers in params beyond 2^53, or with more digits than a double can hold',
    happens: 'rounded, as `JSON.parse` does',
    cases: [taken('[9007199254740993]', '[9007199254740992]'), taken('[0.1e1]', '[1]')],
  },
]

const ids: readonly CornerCase[] = [
  {
    what: 'the ids `0`, `""`, `-1`, `1` and `"1"`',
    happens: 'valid, and all different',
    cases: ['0', '""', '-1', '1', '"1"'].map(id => ({
      input: request(id),
      reply: result(id, 'null'),
    })),
  },
  {
    what: 'the ids `1.0`, `1e0` and `-0`',
    happens: 'equal to 1, 1 and 0',
    cases: [
      { input: request('1.0'), reply: result('1', 'null') },
      { input: request('1e0'), reply: result('1', 'null') },
      { input: request('-0'), reply: result('0', 'null') },
    ],
  },
  {
    what: 'an integer beyond 2^53 as an id',
    happens: 'a `bigint`; sent back with all digits',
    cases: ['9007199254740993', '-9007199254740993', '1152921504606846975', '9'.repeat(256)].map(
      id => ({ input: request(id), reply: result(id, 'null') }),
    ),
  },
  {
    what: 'a fraction, or a large number with an exponent, as an id',
    happens: '-32600 with the id null, because the id sent back might differ',
    cases: ['1.5', '1e21', '1e400', '9007199254740993.0'].map(id => refused(request(id))),
  },
  {
    what: 'the id null in a request',
    happens: 'answered with the id null; -32600 in the profiles `mcp` and `erlmcp`',
    cases: [
      { input: request('null'), reply: result('null', 'null') },
      { ...refused(request('null')), options: mcp },
      { ...refused(request('null')), options: erlmcp },
    ],
  },
  {
    what: 'an id that is neither a string nor a number, or is longer than 256',
    happens: '-32600 with the id null',
    cases: ['true', '{}', '[1]', `"${'x'.repeat(257)}"`, '9'.repeat(257)].map(id =>
      refused(request(id)),
    ),
  },
]

const shape: readonly CornerCase[] = [
  {
    what: '`jsonrpc` missing, `"1.0"`, or the number 2.0',
    happens: '-32600',
    cases: [
      refused('{"id":1,"method":"echo"}', '1'),
      refused('{"jsonrpc":"1.0","id":1,"method":"echo"}', '1'),
      refused('{"jsonrpc":2.0,"id":1,"method":"echo"}', '1'),
      refused('{"jsonrpc":12.05,"id":1,"method":"echo"}', '1'),
    ],
  },
  {
    what: 'a method that is empty, not a string, or longer than 256',
    happens: '-32600',
    cases: ['""', '1', 'null', `"${'x'.repeat(257)}"`].map(name =>
      refused(request('1', name), '1'),
    ),
  },
  {
    what: 'a method that begins with `rpc.`',
    happens: '-32601; registering one throws a TypeError',
    cases: [{ input: request('1', '"rpc.discover"'), reply: unknownMethod('1') }],
  },
  {
    what: 'params that are neither an array nor an object',
    happens: '-32600. Null counts as no params in the profile `erlmcp`',
    cases: [
      ...['null', '1', '"x"', 'true'].map(params => refused(echo(params), '1')),
      { input: echo('null'), options: erlmcp, reply: result('1', 'null') },
      { ...refused(echo('1'), '1'), options: erlmcp },
    ],
  },
  {
    what: 'a malformed notification',
    happens: 'answered like a malformed request, with the id null',
    cases: [refused('{"jsonrpc":"2.0","method":"echo","params":1}')],
  },
  {
    what: 'no method, result or error; or a method together with a result or an error',
    happens: '-32600',
    cases: [
      refused('{"jsonrpc":"2.0","id":1}', '1'),
      refused(request('1', '"echo"', ',"result":1'), '1'),
      refused(request('1', '"echo"', ',"error":{}'), '1'),
    ],
  },
  {
    what: 'a response with both a result and an error, or with an invalid error',
    happens: 'the call it names rejects with the code `framing`; nothing is sent back',
    cases: [
      '"result":1,"error":{"code":1,"message":""}',
      '"error":null',
      '"error":{"code":1.5,"message":""}',
      '"error":{"code":1}',
    ].map(member => ({ input: answer('1', member), reply: '', outcome: 'framing' })),
  },
  {
    what: 'an error without an id, or with the id null',
    happens:
      'nothing is sent back, and `onStray` is called; with -32700, -32600 or -32012 it rejects the only call in flight, else it belongs to no call',
    cases: [
      { input: '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}', reply: '' },
      { input: parseError, reply: '' },
    ],
  },
  {
    what: 'a response without a pending call',
    happens: 'dropped; `onStray` is called',
    cases: [{ input: result('99', '1'), reply: '' }],
  },
]

const batches: readonly CornerCase[] = [
  {
    what: 'an empty batch',
    happens: 'one -32600, not in an array',
    cases: [refused('[]'), refused(' [ ] ')],
  },
  {
    what: 'a batch with invalid entries',
    happens: 'each entry is answered in its place; notifications are not answered',
    cases: [
      { input: '[1]', reply: `[${invalid('null')}]` },
      {
        input: `[${request('1')},{},{"jsonrpc":"2.0","method":"echo"},${request('2')}]`,
        reply: `[${result('1', 'null')},${invalid('null')},${result('2', 'null')}]`,
      },
    ],
  },
  {
    what: 'a batch of notifications only',
    happens: 'no response',
    cases: [{ input: '[{"jsonrpc":"2.0","method":"echo"}]', reply: '' }],
  },
  {
    what: 'a batch of more than 100 messages',
    happens: 'one -32600, and none of it is executed; -32069 in the profile `erlmcp`',
    cases: [
      refused(list(101, request('1'))),
      {
        input: list(101, request('1')),
        options: erlmcp,
        reply: fails(-32069, 'Batch request too large')('null'),
      },
    ],
  },
]

/** Unusual, broken and hostile input, in the order of `docs/limits.md`. */
export const cornerCases = [...bytes, ...structure, ...ids, ...shape, ...batches]

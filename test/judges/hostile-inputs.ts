import type { Message, Reason } from '../../src/jsonrpc/message.ts'

/**
 * The response to one message. `id` and `result` are raw JSON, so that numbers are compared digit by
 * digit.
 */
export interface Reply {
  readonly id: string
  readonly code?: number
  readonly result?: string
}

/** One invalid or unusual input and its expected result on every transport. */
export interface HostileInput {
  readonly name: string
  readonly input: string | Uint8Array
  /** The result of `decode`: a message type, or the reason for its rejection. */
  readonly found: Message['type'] | 'batch' | Reason
  /** The server's response: one reply, a batch of them, or nothing. */
  readonly reply: Reply | readonly Reply[] | undefined
}

/**
 * The server under test has the methods `ping`, which returns "pong", and `echo`, which returns its
 * params.
 */
const PONG = '"pong"'

function served(name: string, input: string, id: string, result = PONG): HostileInput {
  return { name, input, found: 'request', reply: { id, result } }
}

function unknownMethod(name: string, input: string): HostileInput {
  return { name, input, found: 'request', reply: { id: '1', code: -32601 } }
}

function noJson(name: string, input: string | Uint8Array): HostileInput {
  return { name, input, found: 'json', reply: { id: 'null', code: -32700 } }
}

function noUtf8(name: string, input: Uint8Array): HostileInput {
  return { name, input, found: 'encoding', reply: { id: 'null', code: -32700 } }
}

function refused(name: string, input: string, found: Reason, id = 'null'): HostileInput {
  return { name, input, found, reply: { id, code: -32600 } }
}

function silent(name: string, input: string, found: HostileInput['found']): HostileInput {
  return { name, input, found, reply: undefined }
}

function batch(name: string, input: string, ...reply: readonly Reply[]): HostileInput {
  return { name, input, found: 'batch', reply: reply.length === 0 ? undefined : reply }
}

const ping = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`
const echo = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"echo","params":${params}}`
const method = (name: string) => `{"jsonrpc":"2.0","id":1,"method":${name}}`

/** A text with raw bytes in it, each written as two hexadecimal digits between angle brackets. */
function raw(text: string): Uint8Array {
  const parts = text.split(/<([0-9a-f ]+)>/)
  return Buffer.concat(
    parts.map((part, i) => Buffer.from(part.replaceAll(' ', ''), i % 2 === 0 ? 'utf8' : 'hex')),
  )
}

function utf32(text: string, isLittle: boolean): Uint8Array {
  const bytes = Buffer.alloc(text.length * 4)
  for (let i = 0; i < text.length; i++) {
    if (isLittle) bytes.writeUInt32LE(text.charCodeAt(i), i * 4)
    else bytes.writeUInt32BE(text.charCodeAt(i), i * 4)
  }
  return bytes
}

const utf16 = Buffer.from(ping('1'), 'utf16le')
const utf16Swapped = Buffer.from(utf16).swap16()

export const byteInputs: readonly HostileInput[] = [
  noJson('nothing at all', ''),
  noJson('blanks alone', ' \t '),
  noJson('a byte order mark before a message', `\ufeff${ping('1')}`),
  noJson('a byte order mark alone', '\ufeff'),
  noJson('a byte order mark behind a message', `${ping('1')}\ufeff`),
  noUtf8('a byte that UTF-8 never has, in a string', raw(echo('["<ff>"]'))),
  noUtf8('a byte that UTF-8 never has, outside of strings', raw(`<ff>${ping('1')}`)),
  noUtf8('a lone continuation byte', raw(echo('["<80>"]'))),
  noUtf8('an overlong slash', raw(echo('["<c0af>"]'))),
  noUtf8('an overlong slash of three bytes', raw(echo('["<e080af>"]'))),
  noUtf8('an overlong NUL', raw(echo('["<c080>"]'))),
  noUtf8('half of a surrogate pair', raw(echo('["<eda080>"]'))),
  noUtf8('both halves of a surrogate pair', raw(echo('["<eda0bdedb880>"]'))),
  noUtf8('a character beyond U+10FFFF', raw(echo('["<f4908080>"]'))),
  noUtf8('a sequence of five bytes', raw(echo('["<f888808080>"]'))),
  noUtf8('a character cut off by the quote', raw(echo('["<e282>"]'))),
  noUtf8('a character cut off by the end', raw(`${ping('1')}<f09f98>`)),
  noUtf8('Latin-1', raw(echo('["caf<e9>"]'))),
  noUtf8('UTF-16 little endian with its mark', Buffer.concat([Buffer.of(0xff, 0xfe), utf16])),
  noUtf8('UTF-16 big endian with its mark', Buffer.concat([Buffer.of(0xfe, 0xff), utf16Swapped])),
  noJson('UTF-16 little endian', utf16),
  noJson('UTF-16 big endian', utf16Swapped),
  noJson('UTF-32 little endian', utf32(ping('1'), true)),
  noJson('UTF-32 big endian', utf32(ping('1'), false)),
  noJson('a raw NUL in a string', raw(echo('["<00>"]'))),
  noJson('a raw NUL behind the message', raw(`${ping('1')}<00>`)),
  noJson('a raw NUL in a method', raw(method('"pi<00>ng"'))),
  noJson('a raw tabulator in a string', raw(echo('["<09>"]'))),
  noJson('a raw carriage return in a string', raw(echo('["<0d>"]'))),
  noJson('a raw line feed in a string', raw(echo('["<0a>"]'))),
  noJson('a raw form feed in a string', raw(echo('["<0c>"]'))),
  noJson('a raw unit separator in a string', raw(echo('["<1f>"]'))),
  noJson('a form feed between members', `{"jsonrpc":"2.0",\f"id":1,"method":"ping"}`),
  noJson('a no-break space between members', `{"jsonrpc":"2.0",\u00a0"id":1,"method":"ping"}`),
  served('a raw delete in a string', echo('["\x7f"]'), '1', '["\x7f"]'),
  served('a NUL as escape', echo('["\\u0000"]'), '1', '["\\u0000"]'),
  served('half a surrogate pair as escape', echo('["\\ud800"]'), '1', '["\\ud800"]'),
  served('surrogates in the wrong order', echo('["\\udc00\\ud800"]'), '1', '["\\udc00\\ud800"]'),
  served('a pair as escapes', echo('["\\ud83d\\ude00"]'), '1', '["😀"]'),
  served(
    'separators that only look like line ends',
    echo('["\u2028\u2029\u0085"]'),
    '1',
    '["\u2028\u2029\u0085"]',
  ),
  served('blanks of every kind around', ` \t\r ${ping('1')} \t\r`, '1'),
  unknownMethod('a NUL as escape in a method', method('"pi\\u0000ng"')),
  refused('half a surrogate pair in a method', method('"\\ud800"'), 'method', '1'),
  refused('half a surrogate pair in an id', ping('"\\ud800"'), 'id'),
  noJson('a bad escape in a method', method('"\\x"')),
  noJson('half an escape in a method', method('"\\u12"')),
  noJson('a bad escape in a key', '{"jsonrpc":"2.0","id":1,"\\x":1,"method":"ping"}'),
]

const digits = (count: number) => '1234567890'.repeat(26).slice(0, count)

export const idInputs: readonly HostileInput[] = [
  ...['0', '""', '-1', '"0"', '1', '"1"', '9007199254740991', '-9007199254740991'].map(id =>
    served(`the id ${id}`, ping(id), id),
  ),
  served('the id -0', ping('-0'), '0'),
  served('the id -0.0', ping('-0.0'), '0'),
  served('the id 0e999', ping('0e999'), '0'),
  served('the id 1.0', ping('1.0'), '1'),
  served('the id 1e0', ping('1e0'), '1'),
  served('the id 1E+2', ping('1E+2'), '100'),
  served('the id 100e-2', ping('100e-2'), '1'),
  served('the id 2^53', ping('9007199254740992'), '9007199254740992'),
  served('the id 2^53 + 1', ping('9007199254740993'), '9007199254740993'),
  served('the id -2^53 - 1', ping('-9007199254740993'), '-9007199254740993'),
  served('the id 2^60 - 1', ping('1152921504606846975'), '1152921504606846975'),
  served('an id of 40 digits', ping(digits(40)), digits(40)),
  served('an id of 256 digits', ping(digits(256)), digits(256)),
  served('an id with blanks around it', ping(' 9007199254740993 '), '9007199254740993'),
  served('an id of 256 characters', ping(`"${'x'.repeat(256)}"`), `"${'x'.repeat(256)}"`),
  served('an id with an escape', ping('"\\u0061"'), '"a"'),
  served('an id with a character of two halves', ping('"😀"'), '"😀"'),
  served('the id null', ping('null'), 'null'),
  refused('an id of 257 digits', ping(digits(257)), 'id'),
  refused('an id of 257 characters', ping(`"${'x'.repeat(257)}"`), 'id'),
  refused('the id 1.5', ping('1.5'), 'id'),
  refused('the id -0.5', ping('-0.5'), 'id'),
  refused('the id 2^53 as fraction', ping('9007199254740992.0'), 'id'),
  refused('the id 2^53 + 1 with exponent', ping('9007199254740993e0'), 'id'),
  refused('the id 1e21', ping('1e21'), 'id'),
  refused('the id 1e400', ping('1e400'), 'id'),
  refused('the id -1e400', ping('-1e400'), 'id'),
  refused('an id that rounds to 0', ping('1e-400'), 'id'),
  refused('an id that rounds to 1', ping('1.0000000000000000001'), 'id'),
  refused('an id that rounds to 2^53 - 1', ping('9007199254740990.99999999'), 'id'),
  ...['true', 'false', '{}', '[]', '[1]', '{"id":1}'].map(id =>
    refused(`the id ${id}`, ping(id), 'id'),
  ),
  ...['01', '-01', '+1', '1.', '.5', '0x1', '1e', '- 1', 'NaN', 'Infinity', "'1'", 'undefined'].map(
    id => noJson(`the id ${id}`, ping(id)),
  ),
]

const nested = (depth: number) => echo('['.repeat(depth - 1) + ']'.repeat(depth - 1))
const many = (count: number, item: string) => new Array<string>(count).fill(item).join(',')
const keys = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join(',')

export const structureInputs: readonly HostileInput[] = [
  served('64 levels', nested(64), '1', '['.repeat(63) + ']'.repeat(63)),
  refused('65 levels', nested(65), 'depth', '1'),
  batch('63 levels in a batch', `[${nested(63)}]`, {
    id: '1',
    result: '['.repeat(62) + ']'.repeat(62),
  }),
  refused('64 levels in a batch', `[${nested(64)}]`, 'depth'),
  refused('65 levels of objects', echo(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`), 'depth', '1'),
  refused(
    '65 levels in a member that is none of ours',
    nested(65).replace('params', 'other'),
    'depth',
    '1',
  ),
  refused('100000 brackets that never close', '['.repeat(100_000), 'depth'),
  refused('100000 brackets in params', echo('['.repeat(100_000)), 'depth', '1'),
  refused('100000 braces that never close', '{"a":'.repeat(100_000), 'depth'),
  served('brackets in a string', echo(`["${'['.repeat(1000)}"]`), '1', `["${'['.repeat(1000)}"]`),
  served('90000 numbers', echo(`[${many(90_000, '1')}]`), '1', `[${many(90_000, '1')}]`),
  refused('110000 numbers', echo(`[${many(110_000, '1')}]`), 'nodes', '1'),
  refused('110000 strings', echo(`[${many(110_000, '""')}]`), 'nodes', '1'),
  refused('110000 empty objects', echo(`[${many(110_000, '{}')}]`), 'nodes', '1'),
  refused('110000 empty arrays', echo(`[${many(110_000, '[]')}]`), 'nodes', '1'),
  refused('60000 keys in params', echo(`{${keys(60_000)}}`), 'nodes', '1'),
  refused(
    '60000 keys beside ours',
    `{"jsonrpc":"2.0","id":1,"method":"ping",${keys(60_000)}}`,
    'nodes',
    '1',
  ),
  refused('60000 keys in a message of a batch', `[{${keys(60_000)}}]`, 'nodes'),
  refused(
    '120000 nodes over the messages of a batch',
    `[${many(12, echo(`[${many(10_000, '1')}]`))}]`,
    'nodes',
  ),
  batch(
    'a batch of 100',
    `[${many(100, ping('1'))}]`,
    ...new Array<Reply>(100).fill({ id: '1', result: PONG }),
  ),
  refused('a batch of 101', `[${many(101, ping('1'))}]`, 'batch-too-large'),
  refused('a batch of 101 numbers', `[${many(101, '1')}]`, 'batch-too-large'),
  refused('an empty batch', '[]', 'empty-batch'),
  refused('an empty batch with blanks', ' [ \t ] ', 'empty-batch'),
  batch('a batch in a batch', `[[${ping('1')}]]`, { id: 'null', code: -32600 }),
  batch('an empty batch in a batch', '[[]]', { id: 'null', code: -32600 }),
  ...['1', '"ping"', 'null', 'true', '-0.5e3'].map(text =>
    refused(`a bare ${text}`, text, 'not-object'),
  ),
  ...[
    '{',
    '[',
    '{"jsonrpc":',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a" 1}',
    '{"a":1,}',
    '{,}',
    '[}',
    '{]',
    '"',
    '}',
    ']',
    ',',
    'nul',
    "{'a':1}",
    '{a:1}',
    '[] []',
    '{}{}',
    '// x',
    '{}//',
  ].map(text => noJson(`the text ${text}`, text)),
  noJson('a message and a half', `${ping('1')}${ping('2').slice(0, 9)}`),
  noJson('two messages without a border', ping('1') + ping('2')),
  noJson('brackets that do not match, in params', echo('[}')),
  noJson('a batch with one message that breaks off', `[${ping('1')},{"jsonrpc":"2.0"]`),
  noJson('a batch with one value that is no JSON', `[${ping('1')},nul]`),
  noJson('a batch with a comma too many', `[${ping('1')},]`),
  noJson('a comment', `/* x */${ping('1')}`),
]

const call = '"id":1,"method":"ping"'
const full = `"jsonrpc":"2.0",${call}`

export const shapeInputs: readonly HostileInput[] = [
  refused('an empty object', '{}', 'version'),
  refused('no jsonrpc', `{${call}}`, 'version', '1'),
  ...[
    '"1.0"',
    '"2"',
    '"2.00"',
    '"02.0"',
    '" 2.0"',
    '2.0',
    '2',
    '12.03',
    'null',
    '["2.0"]',
    '{}',
  ].map(version => refused(`jsonrpc ${version}`, `{"jsonrpc":${version},${call}}`, 'version', '1')),
  noJson('jsonrpc without quotes that are its own', `{"jsonrpc":x2.0x,${call}}`),
  noJson('jsonrpc in single quotes', `{"jsonrpc":'2.0',${call}}`),
  served('jsonrpc with an escape', `{"jsonrpc":"\u0032.0",${call}}`, '1'),
  served(
    'every key with an escape',
    `{"\u006asonrpc":"2.0","\u0069d":1,"\u006dethod":"ping"}`,
    '1',
  ),
  served('the members in another order', '{"method":"ping","id":1,"jsonrpc":"2.0"}', '1'),
  served('blanks between everything', '{ "jsonrpc" : "2.0" , "id" : 1 , "method" : "ping" }', '1'),
  refused('JSONRPC in capitals', `{"JSONRPC":"2.0",${call}}`, 'version', '1'),
  refused('Method with a capital', '{"jsonrpc":"2.0","id":1,"Method":"ping"}', 'type', '1'),
  silent('ID in capitals', '{"jsonrpc":"2.0","ID":1,"method":"ping"}', 'notification'),
  served('a key that only folds to params', `{${full},"param\u017f":[1]}`, '1'),
  served('members that are none of ours', `{${full},"x":{"y":[1]},"meta":null}`, '1'),
  served('members that are none of ours, twice', `{${full},"x":1,"x":2}`, '1'),
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then'].flatMap(
    name => [
      unknownMethod(`the method ${name}`, method(`"${name}"`)),
      served(`the member ${name}`, `{${full},"${name}":{"id":2,"method":"echo"}}`, '1'),
      served(
        `the param ${name}`,
        echo(`{"${name}":{"admin":true}}`),
        '1',
        `{"${name}":{"admin":true}}`,
      ),
    ],
  ),
  unknownMethod('a reserved method', method('"rpc.discover"')),
  unknownMethod('a method in another case', method('"Ping"')),
  unknownMethod('a method of 256 characters', method(`"${'m'.repeat(256)}"`)),
  refused('a method of 257 characters', method(`"${'m'.repeat(257)}"`), 'method', '1'),
  refused('an empty method', method('""'), 'method', '1'),
  ...['1', 'null', 'true', '["ping"]', '{}'].map(name =>
    refused(`the method ${name}`, method(name), 'method', '1'),
  ),
  refused('no method', '{"jsonrpc":"2.0","id":1}', 'type', '1'),
  refused('no method, but params', '{"jsonrpc":"2.0","id":1,"params":[]}', 'type', '1'),
  ...['null', '1', '"x"', 'true', '0.5'].flatMap(params => [
    refused(`the params ${params}`, echo(params), 'params', '1'),
    refused(
      `the params ${params} without an id`,
      `{"jsonrpc":"2.0","method":"echo","params":${params}}`,
      'params',
    ),
  ]),
  served('no params', '{"jsonrpc":"2.0","id":1,"method":"echo"}', '1', '[]'),
  served('empty params by position', echo('[]'), '1', '[]'),
  served('empty params by name', echo('{}'), '1', '{}'),
  refused('method twice', `{${full},"method":"echo"}`, 'duplicate-member', '1'),
  refused(
    'method twice, once with an escape',
    `{${full},"\u006dethod":"echo"}`,
    'duplicate-member',
    '1',
  ),
  refused('method twice and the same', `{${full},"method":"ping"}`, 'duplicate-member', '1'),
  refused('jsonrpc twice', `{${full},"jsonrpc":"2.0"}`, 'duplicate-member', '1'),
  refused('params twice', `{${full},"params":[],"params":{}}`, 'duplicate-member', '1'),
  refused('id twice', `{${full},"id":2}`, 'duplicate-member'),
  refused('id twice, once with an escape', `{${full},"\u0069d":2}`, 'duplicate-member'),
  refused('id twice and the same', `{${full},"id":1}`, 'duplicate-member'),
  noJson(
    'a member twice, the first of them no JSON',
    '{"jsonrpc":"2.0","id":nul,"id":1,"method":"ping"}',
  ),
  noJson(
    'a batch with a duplicate member, the first of them no JSON',
    `[${ping('1')},{"jsonrpc":"2.0","id":nul,"id":1,"method":"ping"}]`,
  ),
  noJson(
    'a member of ours that is no JSON, behind a wrong version',
    `{"jsonrpc":"1.0",${call},"params":[tru]}`,
  ),
  noJson('a member that is none of ours and no JSON', `{${full},"x":tru}`),
  noJson('a member that is none of ours and no JSON, deep', `{${full},"x":{"y":[01]}}`),
  refused('a method and a result', `{${full},"result":1}`, 'type', '1'),
  refused('a method and an error', `{${full},"error":{"code":1,"message":"x"}}`, 'type', '1'),
  refused(
    'a method and a result, without an id',
    '{"jsonrpc":"2.0","method":"ping","result":1}',
    'type',
  ),
  batch(
    'a batch with one of each fault',
    `[${ping('1')},{"jsonrpc":"1.0",${call}},1,${ping('1.5')},${method('""')},{"jsonrpc":"2.0","method":"ping"},${ping('"z"')}]`,
    { id: '1', result: PONG },
    { id: '1', code: -32600 },
    { id: 'null', code: -32600 },
    { id: 'null', code: -32600 },
    { id: '1', code: -32600 },
    { id: '"z"', result: PONG },
  ),
]

const fault = '{"code":1,"message":"x"}'

/** Unsolicited replies, valid and invalid: never answered, because their id belongs to no call. */
export const replyInputs: readonly HostileInput[] = [
  silent('a result for an unknown id', '{"jsonrpc":"2.0","id":99,"result":1}', 'result'),
  silent('a result of null', '{"jsonrpc":"2.0","id":99,"result":null}', 'result'),
  silent('a result for the id null', '{"jsonrpc":"2.0","id":null,"result":1}', 'result'),
  silent(
    'a result for an id beyond 2^53',
    '{"jsonrpc":"2.0","id":9007199254740993,"result":1}',
    'result',
  ),
  silent('an error for an unknown id', `{"jsonrpc":"2.0","id":"x","error":${fault}}`, 'error'),
  silent('an error for the id null', `{"jsonrpc":"2.0","id":null,"error":${fault}}`, 'error'),
  silent('an error without an id', `{"jsonrpc":"2.0","error":${fault}}`, 'error'),
  silent('a result without an id', '{"jsonrpc":"2.0","result":1}', 'id'),
  silent('a result with the id 1.5', '{"jsonrpc":"2.0","id":1.5,"result":1}', 'id'),
  silent('result and error', `{"jsonrpc":"2.0","id":1,"result":1,"error":${fault}}`, 'type'),
  silent('result and the error null', '{"jsonrpc":"2.0","id":1,"result":1,"error":null}', 'type'),
  silent('a result of version 1.0', '{"jsonrpc":"1.0","id":1,"result":1}', 'version'),
  silent('a result without a version', '{"id":1,"result":1,"error":null}', 'version'),
  silent('result twice', '{"jsonrpc":"2.0","id":1,"result":1,"result":2}', 'duplicate-member'),
  ...[
    'null',
    '1',
    '"x"',
    '[]',
    '{}',
    '{"code":1}',
    '{"message":"x"}',
    '{"code":"1","message":"x"}',
    '{"code":1.5,"message":"x"}',
    '{"code":1e400,"message":"x"}',
    '{"code":1,"message":null}',
    '{"code":1,"message":1}',
  ].map(error =>
    silent(`the error ${error}`, `{"jsonrpc":"2.0","id":1,"error":${error}}`, 'error'),
  ),
  batch(
    'a batch of replies',
    `[{"jsonrpc":"2.0","id":99,"result":1},{"jsonrpc":"2.0","id":98,"error":${fault}}]`,
  ),
  batch(
    'a batch of bad replies',
    '[{"jsonrpc":"2.0","id":99,"error":1},{"jsonrpc":"2.0","result":1}]',
  ),
  batch(
    'a batch of a call between replies',
    `[{"jsonrpc":"2.0","id":99,"result":1},${ping('7')},{"jsonrpc":"2.0","id":99,"error":1}]`,
    { id: '7', result: PONG },
  ),
]

export const hostileInputs: readonly HostileInput[] = [
  ...byteInputs,
  ...idInputs,
  ...structureInputs,
  ...shapeInputs,
  ...replyInputs,
]

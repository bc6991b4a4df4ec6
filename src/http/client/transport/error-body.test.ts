import { expect, test } from 'vitest'
import { decodeRules } from '../../../jsonrpc/codec/decode-rules.ts'
import { errorBodyOf } from './error-body.ts'

const cases: readonly (readonly [string, string, string, string | undefined])[] = [
  [
    'plain text',
    'text/plain',
    ' Access is only allowed at localhost:8931\nmore',
    'Access is only allowed at localhost:8931',
  ],
  ['text without a media type', '', 'go away', 'go away'],
  [
    'a JSON-RPC error',
    'application/json',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}',
    'no',
  ],
  [
    'an OAuth error',
    'application/json',
    '{"error":"invalid_token","error_description":"it expired"}',
    'it expired',
  ],
  [
    'a problem document',
    'application/problem+json',
    '{"title":"Forbidden","detail":"wrong tenant"}',
    'wrong tenant',
  ],
  ['a nested error', 'application/json', '{"error":{"message":"over quota"}}', 'over quota'],
  [
    'a web page',
    'text/html',
    '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title>',
    '400 The plain HTTP request was sent to HTTPS port',
  ],
  [
    'a page of Express',
    'text/html',
    '<title>Error</title><body><pre>Cannot POST /</pre>',
    'Cannot POST /',
  ],
  ['control characters', 'text/plain', '\u001b[31mred\u202e\u0007', '[31mred'],
  ['a long line', 'text/plain', 'x'.repeat(500), `${'x'.repeat(199)}…`],
  ['an image', 'image/png', 'PNG', undefined],
  ['broken JSON', 'application/json', '{', undefined],
  ['nothing', 'text/plain', ' \n ', undefined],
]

test.each(cases)('finds the reason in %s', (_, type, body, words) => {
  expect(errorBodyOf(Buffer.from(body), type, decodeRules({})).words).toBe(words)
})

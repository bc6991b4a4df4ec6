import { describe, expect, test } from 'vitest'
import { challengeOf, parseChallenges } from './challenge.ts'

const parsed = (field: string) =>
  parseChallenges(field).map(({ scheme, params }) => [scheme, Object.fromEntries(params)])

test.each([
  ['one challenge', 'Bearer', [['bearer', {}]]],
  ['parameters', 'Bearer realm="a", scope=read', [['bearer', { realm: 'a', scope: 'read' }]]],
  ['quoted pairs', 'Bearer realm="a\\"b\\\\c"', [['bearer', { realm: 'a"b\\c' }]]],
  [
    'several challenges',
    'Basic realm="a, b=c", DPoP algs="ES256", Bearer scope="x"',
    [
      ['basic', { realm: 'a, b=c' }],
      ['dpop', { algs: 'ES256' }],
      ['bearer', { scope: 'x' }],
    ],
  ],
  [
    'credentials in one piece',
    'Negotiate YWJj==, Bearer scope="x"',
    [
      ['negotiate', {}],
      ['bearer', { scope: 'x' }],
    ],
  ],
  ['empty elements', ' , ,Bearer ,, scope="x",', [['bearer', { scope: 'x' }]]],
  ['spaces around the sign', 'Bearer scope = "x"', [['bearer', { scope: 'x' }]]],
  ['the first of two values', 'Bearer scope="x", scope="y"', [['bearer', { scope: 'x' }]]],
  ['an open quote', 'Bearer scope="x', [['bearer', {}]]],
  ['a value that is too long', `Bearer a="${'x'.repeat(3000)}", b="y"`, [['bearer', { b: 'y' }]]],
  ['control characters', 'Bearer a="x\ty", b="z"', [['bearer', { b: 'z' }]]],
  [
    'a name like a member of objects',
    'Bearer __proto__="x"',
    [['bearer', Object.fromEntries([['__proto__', 'x']])]],
  ],
  ['nothing', '', []],
  ['no scheme', '="x"', []],
])('reads %s', (_, field, challenges) => {
  expect(parsed(field)).toEqual(challenges)
})

describe('what a server accepts', () => {
  const of = (field?: string) =>
    challengeOf(new Headers(field === undefined ? {} : { 'www-authenticate': field }))

  test.each([
    ['without a challenge', undefined, true, false],
    ['Bearer', 'Bearer', true, false],
    ['DPoP', 'DPoP algs="ES256"', false, true],
    ['both', 'Bearer scope="x", DPoP algs="ES256"', true, true],
  ])('%s', (_, field, acceptsBearer, acceptsDpop) => {
    expect(of(field)).toMatchObject({ acceptsBearer, acceptsDpop })
  })

  test('another scheme is not for us', () => {
    expect(of('Basic realm="x"')).toBeUndefined()
  })

  test('words that are no scopes are left out', () => {
    expect(of('Bearer scope="read  \u00e9 a\\"b read write"')?.scopes).toEqual(['read', 'write'])
  })
})

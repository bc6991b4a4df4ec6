import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { spent } from '../../../test/fuzz/cost.ts'
import { anyText } from '../../../test/support/any-text.ts'
import { parseTemplate } from './template.ts'

type Row = [template: string, uri: string, found: object | undefined]

function check(rows: readonly Row[]): void {
  test.each(rows)('%s in %s', (template, uri, found) => {
    const match = parseTemplate(template).match(uri)
    if (found === undefined) expect(match).toBeUndefined()
    else expect(match).toEqual(found)
  })
}

describe('text without variables', () => {
  check([
    ['', '', {}],
    ['', 'x', undefined],
    ['db://x', 'db://x', {}],
    ['db://x', 'db://xy', undefined],
    ['db://x', 'db://', undefined],
    ['db://x', 'DB://x', undefined],
    ['ünï/%c3', '%C3%BCn%C3%AF/%C3', {}],
    ['%C3%BC', 'ü', {}],
    ['a%2fb', 'a%2Fb', {}],
    ['a%2Fb', 'a/b', undefined],
  ])
})

describe('a variable within a segment', () => {
  check([
    ['db://users/{id}', 'db://users/7', { id: '7' }],
    ['db://users/{id}', 'db://users/', undefined],
    ['db://users/{id}', 'db://users', undefined],
    ['db://users/{id}', 'db://users/7/keys', undefined],
    ['db://users/{id}', 'db://users/7/', undefined],
    ['db://users/{id}', 'db://users/7?x', undefined],
    ['db://users/{id}', 'db://users/7#x', undefined],
    ['db://users/{id}', 'db://groups/7', undefined],
    ['db://users/{id}/keys', 'db://users/7/keys', { id: '7' }],
    ['db://users/{id}/keys', 'db://users/7/keys/', undefined],
    ['test://template/{id}/data', 'test://template/123/data', { id: '123' }],
    ['{a}', 'x', { a: 'x' }],
    ['x/{a}', 'x/a%20b%C3%A9', { a: 'a bé' }],
    ['x/{a}', 'x/a bé', { a: 'a bé' }],
    ['x/{a}', 'x/a%2Fb', { a: 'a/b' }],
    ['x/{a}', 'x/a%252Fb', { a: 'a%2Fb' }],
    ['x/{a}', 'x/alice@example.com:80,b+c;d=(e)', { a: 'alice@example.com:80,b+c;d=(e)' }],
    ['x/{a}', 'x/{a}', { a: '{a}' }],
    ['x/{a}', 'x/🚀', { a: '🚀' }],
    ['x/{a}/y/{b}', 'x/1/y/2', { a: '1', b: '2' }],
    ['x/{a}/y/{b}', 'x/1/z/2', undefined],
    ['{a}/{b}', '1/2', { a: '1', b: '2' }],
    ['{a}/{b}', '1/2/3', undefined],
    ['?q={q}&n={n}', '?q=1&n=2', { q: '1', n: '2' }],
    ['?q={q}', '?q=1&admin=true', undefined],
  ])
})

describe('several values behind each other', () => {
  check([
    ['{x,y}', '1,2', { x: '1', y: '2' }],
    ['{x,y}', '1', undefined],
    ['{x,y}', '1,2,3', undefined],
    ['{x,y}', '1%2C2,3', { x: '1,2', y: '3' }],
    ['{list*}', 'a,b%2C,c', { list: ['a', 'b,', 'c'] }],
    ['{list*}', 'a', { list: ['a'] }],
    ['{list}', 'a,b', { list: 'a,b' }],
    ['{+x,y}', 'a/b,c/d', { x: 'a/b', y: 'c/d' }],
    ['{+x,y}', 'a,b,c', { x: 'a', y: 'b,c' }],
    ['{+list*}', 'a/b,c', { list: ['a/b', 'c'] }],
    ['{.x,y}', '.a.b', { x: 'a', y: 'b' }],
    ['{.x,y}', '.a', undefined],
    ['www{.dom*}', 'www.example.com', { dom: ['example', 'com'] }],
    ['file{.ext}', 'file.txt', { ext: 'txt' }],
    ['file{.ext}', 'file', undefined],
    ['{/x,y}', '/a/b', { x: 'a', y: 'b' }],
    ['{/x,y}', '/a', undefined],
    ['{/x,y}', '/a/b/c', undefined],
    ['x{/path*}', 'x/a/b%2Fc/d', { path: ['a', 'b/c', 'd'] }],
    ['x{/path*}', 'x/a', { path: ['a'] }],
    ['x{/path*}', 'x/a/', { path: ['a', ''] }],
    ['x{/path*}', 'x', undefined],
    ['x{/path*}', 'x/', undefined],
    ['x{/path*}/end', 'x/a/end/b/end', { path: ['a', 'end', 'b'] }],
    ['x{/path*}{?q}', 'x/a/b?q=1', { path: ['a', 'b'], q: '1' }],
  ])
})

describe('a variable that may reach over segments', () => {
  check([
    ['file:///{+path}', 'file:///a/b%20c.txt', { path: 'a/b c.txt' }],
    ['file:///{+path}', 'file:///', undefined],
    ['file:///{+path}', 'file:///a?b#c', { path: 'a?b#c' }],
    ['{+dir}/{name}', 'a/b/c', { dir: 'a/b', name: 'c' }],
    ['{+dir}/{name}', 'a', undefined],
    ['{+dir}/{name}', '/a', undefined],
    ['{+a}/x/{+b}', '1/x/2/x/3', { a: '1', b: '2/x/3' }],
    ['{+a}/x/{b}', '1/x/2/x/3', { a: '1/x/2', b: '3' }],
    ['{a}/x/{+b}', '1/x/2/x/3', { a: '1', b: '2/x/3' }],
    ['{+path}{?q}', 'a/b?q=1', { path: 'a/b', q: '1' }],
    ['{+path}{#f}', 'a/b#c', { path: 'a/b', f: 'c' }],
    ['{+path}{?q}', 'a/b', { path: 'a/b' }],
  ])
})

describe('named parameters', () => {
  check([
    ['x{?a,b}', 'x', {}],
    ['x{?a,b}', 'x?a=1&b=2', { a: '1', b: '2' }],
    ['x{?a,b}', 'x?b=2&a=1', { a: '1', b: '2' }],
    ['x{?a,b}', 'x?b=2', { b: '2' }],
    ['x{?a,b}', 'x?a=', { a: '' }],
    ['x{?a,b}', 'x?a', { a: '' }],
    ['x{?a,b}', 'x?', undefined],
    ['x{?a,b}', 'x?c=1', undefined],
    ['x{?a,b}', 'x?a=1&c=1', undefined],
    ['x{?a,b}', 'x?a=1&a=2', undefined],
    ['x{?a,b}', 'x?A=1', undefined],
    ['x{?a}', 'x&a=1', undefined],
    ['x{?a}', 'xy?a=1', undefined],
    ['x{?a}', 'x?a=1#f', undefined],
    ['x{?a}', 'x?a=b=c', { a: 'b=c' }],
    ['x{?a}', 'x?a=%26%3D+/?', { a: '&=+/?' }],
    ['x{?a}', 'x?a=../..', { a: '../..' }],
    ['x{?list*}', 'x?list=1&list=2', { list: ['1', '2'] }],
    ['x{?list*}', 'x?list=1', { list: ['1'] }],
    ['x{?list}', 'x?list=1,2', { list: '1,2' }],
    ['x{?keys*}', 'x?semi=1&dot=2', undefined],
    ['x{?a}{#f}', 'x?a=1#f', { a: '1', f: 'f' }],
    ['x{?a}{&b}', 'x?a=1&b=2', { a: '1', b: '2' }],
    ['x?fixed=yes{&a}', 'x?fixed=yes', {}],
    ['x?fixed=yes{&a}', 'x?fixed=yes&a=1', { a: '1' }],
    ['x?fixed=yes{&a}', 'x?fixed=no&a=1', undefined],
    ['{id}{;v,w}', '7', { id: '7' }],
    ['{id}{;v,w}', '7;v=1', { id: '7', v: '1' }],
    ['{id}{;v,w}', '7;w;v=1', { id: '7', v: '1', w: '' }],
    ['{id}{;v}/x', '7;v=1/x', { id: '7', v: '1' }],
    ['{id}{;v}', '7;u=1', undefined],
    ['{;v}{;w}', ';w=1;v=2', { v: '2', w: '1' }],
    ['{;v}{+rest}', ';v=1/x', { v: '1', rest: '/x' }],
    ['x{?constructor}', 'x', {}],
    ['x{?__proto__}', 'x?__proto__=1', Object.fromEntries([['__proto__', '1']])],
    ['x{?a%2eb}', 'x?a%2Eb=1', { 'a%2eb': '1' }],
  ])
})

describe('fragments', () => {
  check([
    ['x{#f}', 'x', {}],
    ['x{#f}', 'x#a/b?c', { f: 'a/b?c' }],
    ['x{#f}', 'x#', { f: '' }],
    ['x{#f,g}', 'x#a,b,c', { f: 'a', g: 'b,c' }],
    ['x{#f,g}', 'x#a', { f: 'a' }],
    ['x{#list*}', 'x#a,b', { list: ['a', 'b'] }],
  ])
})

describe('prefixes and repeated variables', () => {
  check([
    ['{a:3}', 'abc', { a: 'abc' }],
    ['{a:3}', 'ab', { a: 'ab' }],
    ['{a:3}', 'abcd', undefined],
    ['{a:3}', '🚀🚀🚀', { a: '🚀🚀🚀' }],
    ['{a:3}', '🚀🚀🚀🚀', undefined],
    ['{/a:1,a}', '/v/value', { a: 'value' }],
    ['{/a:1,a}', '/x/value', undefined],
    ['{/a,a:1}', '/value/v', { a: 'value' }],
    ['{/a:2,a:3}', '/va/val', { a: 'val' }],
    ['{/a:2,a:3}', '/v/val', undefined],
    ['{a}/{a}', 'x/x', { a: 'x' }],
    ['{a}/{a}', 'x/y', undefined],
    ['{a}{?a}', 'x?a=x', { a: 'x' }],
    ['{a}{?a}', 'x?a=y', undefined],
    ['{/a*}//{a*}', '/x/y//x,y', { a: ['x', 'y'] }],
    ['{/a*}//{a*}', '/x/y//x', undefined],
  ])
})

describe('if several values are possible, the first matches the least', () => {
  check([
    ['{a}{b}', '%2Cx', { a: ',', b: 'x' }],
    ['{a}{b}', '%C3%A9x', { a: 'é', b: 'x' }],
    ['{a}41{b}', 'x%41y41z', { a: 'xAy', b: 'z' }],
    ['{a}%A9{b}', 'x%A9y', { a: 'x', b: 'y' }],
    ['{name}.{type}', 'a.tar.gz', { name: 'a', type: 'tar.gz' }],
    ['{a}{b}', 'xyz', { a: 'x', b: 'yz' }],
    ['{a}{b}', 'x', undefined],
    ['{a}-{b}-{c}', '1-2-3-4', { a: '1', b: '2', c: '3-4' }],
    ['{a}aa{b}', 'xaaay', { a: 'x', b: 'ay' }],
    ['{a}ab', 'aabab', { a: 'aab' }],
    ['{a}--{b}', '-----', { a: '-', b: '--' }],
  ])
})

describe('values that would leave their position', () => {
  check([
    ['x/{a}', 'x/..', undefined],
    ['x/{a}', 'x/.', undefined],
    ['x/{a}', 'x/%2e%2E', undefined],
    ['x/{a}', 'x/..%2Fetc', undefined],
    ['x/{a}', 'x/a%2F..%2Fb', undefined],
    ['x/{a}', 'x/..%5Cetc', undefined],
    ['x/{a}', 'x/..\\etc', undefined],
    ['x/{a}', 'x/a%00', undefined],
    ['x/{a}', 'x/a\0', undefined],
    ['x/{a}', 'x/%', undefined],
    ['x/{a}', 'x/%zz', undefined],
    ['x/{a}', 'x/%ff', undefined],
    ['x/{a}', 'x/%c0%ae', undefined],
    ['x/{a}', 'x/\ud800', undefined],
    ['x/{a}', 'x/%252e%252e', { a: '%2e%2e' }],
    ['x/{a}', 'x/...', { a: '...' }],
    ['x/{a}', 'x/..a', { a: '..a' }],
    ['x/{a}', 'x/a\\b', { a: 'a\\b' }],
    ['x/{+a}', 'x/a/../b', undefined],
    ['x/{+a}', 'x/../b', undefined],
    ['x/{+a}', 'x/a/..', undefined],
    ['x{/a*}', 'x/a/../b', undefined],
    ['x{/a*}', 'x/a/%2e%2e/b', undefined],
    ['x/.{a}', 'x/..', undefined],
    ['x;a={a}', 'x;a=..', undefined],
    ['x{;a}', 'x;a=../b', undefined],
    ['x?a={a}', 'x?a=..', { a: '..' }],
    ['x{#a}', 'x#..', { a: '..' }],
    ['x{?a}', 'x?a=%00', undefined],
    ['x{?a}', 'x?a=%ff', undefined],
  ])
})

describe('in general', () => {
  test('what was expanded is found again', () => {
    const refused = /(?:^|[/\\])\.{1,2}(?:[/\\?#]|$)|\0/
    const value = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      // Where reserved characters may stand, what looks encoded goes out as it is, and is refused as such.
      .filter(text => !refused.test(text) && !/%(?:00|2e|2f|5c)/i.test(text))
    const given = fc.record({
      a: value,
      b: value,
      c: fc.array(value, { minLength: 1, maxLength: 4 }),
      d: value,
      e: fc.array(value, { minLength: 1, maxLength: 4 }),
      f: value,
    })
    const template = parseTemplate('x://{a}/{b}{/c*}{;d}{?e*}{#f}')
    fc.assert(
      fc.property(given, values => {
        expect({ ...template.match(template.expand(values)) }).toEqual(values)
      }),
    )
  })

  test('what is expanded to an encoded NUL is refused like any other', () => {
    const template = parseTemplate('x://{#f}')
    expect(template.expand({ f: '%00 ' })).toBe('x://#%00%20')
    expect(template.match('x://#%00%20')).toBeUndefined()
  })

  test('what is found expands to the same', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', '/', '-', '.', '?', '&', 'q=', '%2F', '#'), {
      maxLength: 10,
    })
    const templates = [
      '{a}',
      '{a}-{b}',
      '{+a}/{b}',
      '{a}{/b*}',
      '{a}{?q}',
      '{+a}{?q}',
      '{a}.{b}{#c}',
    ]
    fc.assert(
      fc.property(texts, fc.constantFrom(...templates), (pieces, text) => {
        const uri = pieces.join('')
        const found = parseTemplate(text).match(uri)
        if (found === undefined) return
        const again = parseTemplate(text).match(parseTemplate(text).expand(found))
        expect(again).toEqual(found)
      }),
      { numRuns: 2000 },
    )
  })

  test('finds the same as trying everything', () => {
    // The slow way: a regular expression that takes as little as possible.
    const slow = /^([^/?#]+?)-([^/?#]+?)\/(.+?)\/([^/?#]+?)x$/
    const template = parseTemplate('{a}-{b}/{+c}/{d}x')
    const texts = fc.array(fc.constantFrom('-', '/', 'x', 'y'), { maxLength: 14 })
    fc.assert(
      fc.property(texts, pieces => {
        const [, a, b, c, d] = slow.exec(pieces.join('')) ?? []
        const found = template.match(pieces.join(''))
        expect({ ...found }).toEqual(a === undefined ? {} : { a, b, c, d })
      }),
      { numRuns: 5000 },
    )
  })

  test('no input makes it throw', () => {
    const templates = ['{a}', 'x{/a*}{?b,c*}', '{+a}/{b:3}{;c}{#d*}', '{a,b}.{c}'].map(
      parseTemplate,
    )
    fc.assert(
      fc.property(anyText({ maxLength: 40 }), uri => {
        for (const template of templates) template.match(uri)
      }),
    )
  })

  test('its result has no prototype', () => {
    const found = parseTemplate('{a}').match('x')
    expect(found && Object.getPrototypeOf(found)).toBeNull()
  })
})

describe('time is in proportion to the length of the URI', () => {
  const rows: [template: string, uri: (size: number) => string][] = [
    ['db://users/{id}', size => `db://users/${'a'.repeat(size)}`],
    ['db://users/{id}', size => `db://users/${'a'.repeat(size)}/`],
    ['{a}{b}{c}{d}{e}', size => `${'a'.repeat(size)}/`],
    ['{a}-{b}-{c}-{d}', size => '-'.repeat(size)],
    ['{a}-{b}-{c}-{d}!', size => '-'.repeat(size)],
    ['{+a}/{+b}/{+c}/{+d}', size => '/'.repeat(size)],
    ['{+a}aaaaaaaaab{+b}', size => 'a'.repeat(size)],
    ['x{/a*}{/b*}{/c*}', size => `x${'/y'.repeat(size / 2)}`],
    ['{a*}{b*},!', size => ','.repeat(size)],
    ['{.a*}{.b*}.', size => '.'.repeat(size)],
    ['x{?a*,b}', size => `x?${'a=1&'.repeat(size / 4)}b=1`],
    ['x{?a,b}', size => `x?${'a&'.repeat(size / 2)}`],
    ['x{;a*}{;b*}{c}/', size => `x${';a=1'.repeat(size / 4)}`],
    ['x{#a,b,c*}', size => `x#${','.repeat(size)}`],
    ['{a:9999}', size => '🚀'.repeat(size / 12)],
    ['{a}/{a}', size => `${'a'.repeat(size / 2)}/${'a'.repeat(size / 2)}`],
    ['{a}', size => `${'%41'.repeat(size / 3)}%`],
    ['{a}', size => '%4a'.repeat(size / 3)],
    ['{+a}', size => './'.repeat(size / 2)],
    ['{+a}', size => '.'.repeat(size)],
    ['{a}', size => '\\'.repeat(size / 3)],
  ]

  test.each(rows)('%s', (text, uriOf) => {
    const template = parseTemplate(text)
    expect(perDoubling(uriOf, uri => template.match(uri))).toBeLessThan(2.5)
  })

  test('a URI of more than 2^20 characters matches nothing', () => {
    const template = parseTemplate('x{a}')
    const longest = 'a'.repeat(2 ** 20 - 1)
    expect(template.match(`x${longest}`)).toEqual({ a: longest })
    expect(template.match(`x${longest}a`)).toBeUndefined()
    expect(template.match(`x${'ü'.repeat(2 ** 20 / 6)}`)).toBeDefined()
    expect(template.match(`x${'ü'.repeat(2 ** 20 / 6 + 1)}`)).toBeUndefined()
  })

  test('expanding takes time in proportion to the values', () => {
    const template = parseTemplate('{+a}{a}{?b*}')
    const sized = (size: number) => '%2F./é '.repeat(size / 8)
    const expand = (value: string) => template.expand({ a: value, b: value.split('/') })
    expect(perDoubling(sized, expand)).toBeLessThan(2.5)
  })
})

/**
 * How many times longer the work takes for twice the length, on average over the eight doublings from a
 * thousand characters. The best of several rounds counts, because the first ones compile.
 */
function perDoubling(textOf: (size: number) => string, work: (text: string) => unknown): number {
  const best = (text: string): number =>
    Math.min(...Array.from({ length: 3 }, () => spent(() => work(text))))
  const [small, large] = [textOf(1_000), textOf(256_000)]
  return (best(large) / best(small)) ** (1 / 8)
}

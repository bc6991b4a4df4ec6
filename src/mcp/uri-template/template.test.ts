import { describe, expect, expectTypeOf, test } from 'vitest'
import { parseTemplate, type TemplateValue, type VariablesOf } from './template.ts'

/** The values of the examples in RFC 6570, section 3.2. */
const values: Record<string, TemplateValue> = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: {},
  undef: null,
}

describe('the examples of RFC 6570', () => {
  const sections: [string, [string, string][]][] = [
    [
      'variables',
      [
        ['{count}', 'one,two,three'],
        ['{count*}', 'one,two,three'],
        ['{/count}', '/one,two,three'],
        ['{/count*}', '/one/two/three'],
        ['{;count}', ';count=one,two,three'],
        ['{;count*}', ';count=one;count=two;count=three'],
        ['{?count}', '?count=one,two,three'],
        ['{?count*}', '?count=one&count=two&count=three'],
        ['{&count*}', '&count=one&count=two&count=three'],
      ],
    ],
    [
      'simple expansion',
      [
        ['{var}', 'value'],
        ['{hello}', 'Hello%20World%21'],
        ['{half}', '50%25'],
        ['O{empty}X', 'OX'],
        ['O{undef}X', 'OX'],
        ['{x,y}', '1024,768'],
        ['{x,hello,y}', '1024,Hello%20World%21,768'],
        ['?{x,empty}', '?1024,'],
        ['?{x,undef}', '?1024'],
        ['?{undef,y}', '?768'],
        ['{var:3}', 'val'],
        ['{var:30}', 'value'],
        ['{list}', 'red,green,blue'],
        ['{list*}', 'red,green,blue'],
        ['{keys}', 'semi,%3B,dot,.,comma,%2C'],
        ['{keys*}', 'semi=%3B,dot=.,comma=%2C'],
      ],
    ],
    [
      'reserved expansion',
      [
        ['{+var}', 'value'],
        ['{+hello}', 'Hello%20World!'],
        ['{+half}', '50%25'],
        ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
        ['{+base}index', 'http://example.com/home/index'],
        ['O{+empty}X', 'OX'],
        ['O{+undef}X', 'OX'],
        ['{+path}/here', '/foo/bar/here'],
        ['here?ref={+path}', 'here?ref=/foo/bar'],
        ['up{+path}{var}/here', 'up/foo/barvalue/here'],
        ['{+x,hello,y}', '1024,Hello%20World!,768'],
        ['{+path,x}/here', '/foo/bar,1024/here'],
        ['{+path:6}/here', '/foo/b/here'],
        ['{+list}', 'red,green,blue'],
        ['{+list*}', 'red,green,blue'],
        ['{+keys}', 'semi,;,dot,.,comma,,'],
        ['{+keys*}', 'semi=;,dot=.,comma=,'],
      ],
    ],
    [
      'fragments',
      [
        ['{#var}', '#value'],
        ['{#hello}', '#Hello%20World!'],
        ['{#half}', '#50%25'],
        ['foo{#empty}', 'foo#'],
        ['foo{#undef}', 'foo'],
        ['{#x,hello,y}', '#1024,Hello%20World!,768'],
        ['{#path,x}/here', '#/foo/bar,1024/here'],
        ['{#path:6}/here', '#/foo/b/here'],
        ['{#list}', '#red,green,blue'],
        ['{#list*}', '#red,green,blue'],
        ['{#keys}', '#semi,;,dot,.,comma,,'],
        ['{#keys*}', '#semi=;,dot=.,comma=,'],
      ],
    ],
    [
      'labels',
      [
        ['{.who}', '.fred'],
        ['{.who,who}', '.fred.fred'],
        ['{.half,who}', '.50%25.fred'],
        ['www{.dom*}', 'www.example.com'],
        ['X{.var}', 'X.value'],
        ['X{.empty}', 'X.'],
        ['X{.undef}', 'X'],
        ['X{.var:3}', 'X.val'],
        ['X{.list}', 'X.red,green,blue'],
        ['X{.list*}', 'X.red.green.blue'],
        ['X{.keys}', 'X.semi,%3B,dot,.,comma,%2C'],
        ['X{.keys*}', 'X.semi=%3B.dot=..comma=%2C'],
        ['X{.empty_keys}', 'X'],
        ['X{.empty_keys*}', 'X'],
      ],
    ],
    [
      'path segments',
      [
        ['{/who}', '/fred'],
        ['{/who,who}', '/fred/fred'],
        ['{/half,who}', '/50%25/fred'],
        ['{/who,dub}', '/fred/me%2Ftoo'],
        ['{/var}', '/value'],
        ['{/var,empty}', '/value/'],
        ['{/var,undef}', '/value'],
        ['{/var,x}/here', '/value/1024/here'],
        ['{/var:1,var}', '/v/value'],
        ['{/list}', '/red,green,blue'],
        ['{/list*}', '/red/green/blue'],
        ['{/list*,path:4}', '/red/green/blue/%2Ffoo'],
        ['{/keys}', '/semi,%3B,dot,.,comma,%2C'],
        ['{/keys*}', '/semi=%3B/dot=./comma=%2C'],
      ],
    ],
    [
      'path parameters',
      [
        ['{;who}', ';who=fred'],
        ['{;half}', ';half=50%25'],
        ['{;empty}', ';empty'],
        ['{;v,empty,who}', ';v=6;empty;who=fred'],
        ['{;v,bar,who}', ';v=6;who=fred'],
        ['{;x,y}', ';x=1024;y=768'],
        ['{;x,y,empty}', ';x=1024;y=768;empty'],
        ['{;x,y,undef}', ';x=1024;y=768'],
        ['{;hello:5}', ';hello=Hello'],
        ['{;list}', ';list=red,green,blue'],
        ['{;list*}', ';list=red;list=green;list=blue'],
        ['{;keys}', ';keys=semi,%3B,dot,.,comma,%2C'],
        ['{;keys*}', ';semi=%3B;dot=.;comma=%2C'],
      ],
    ],
    [
      'queries',
      [
        ['{?who}', '?who=fred'],
        ['{?half}', '?half=50%25'],
        ['{?x,y}', '?x=1024&y=768'],
        ['{?x,y,empty}', '?x=1024&y=768&empty='],
        ['{?x,y,undef}', '?x=1024&y=768'],
        ['{?var:3}', '?var=val'],
        ['{?list}', '?list=red,green,blue'],
        ['{?list*}', '?list=red&list=green&list=blue'],
        ['{?keys}', '?keys=semi,%3B,dot,.,comma,%2C'],
        ['{?keys*}', '?semi=%3B&dot=.&comma=%2C'],
      ],
    ],
    [
      'continued queries',
      [
        ['{&who}', '&who=fred'],
        ['{&half}', '&half=50%25'],
        ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
        ['{&x,y,empty}', '&x=1024&y=768&empty='],
        ['{&x,y,undef}', '&x=1024&y=768'],
        ['{&var:3}', '&var=val'],
        ['{&list}', '&list=red,green,blue'],
        ['{&list*}', '&list=red&list=green&list=blue'],
        ['{&keys}', '&keys=semi,%3B,dot,.,comma,%2C'],
        ['{&keys*}', '&semi=%3B&dot=.&comma=%2C'],
      ],
    ],
  ]

  describe.each(sections)('%s', (_, rows) => {
    test.each(rows)('%s gives %s', (template, uri) => {
      expect(parseTemplate(template).expand(values)).toBe(uri)
    })
  })
})

describe('expanding', () => {
  test.each<[string, string, Record<string, TemplateValue>, string]>([
    ['numbers and words', '{a},{b},{c}', { a: 0, b: -1.5, c: false }, '0,-1.5,false'],
    ['an empty list', 'x{?a,b*}', { a: [], b: [] }, 'x'],
    ['members without a value', 'x{?a*,b*}', { a: [null, 1, undefined], b: { c: null } }, 'x?a=1'],
    ['an empty member of an object', 'x{;a*}{?a*}', { a: { k: '' } }, 'x;k?k='],
    ['values of a simple object', '{a*}', { a: { k: '' } }, 'k='],
    ['all that may not stay', '{a}', { a: "/?#[]@!$&'()*+,;=:%\\ " }, encodedReserved],
    ['all that may stay', '{+a}', { a: "/?#[]@!$&'()*+,;=:" }, "/?#[]@!$&'()*+,;=:"],
    ['escapes that are there already', '{a}{+a}', { a: '%2f%' }, '%252f%25%2f%25'],
    ['other scripts', '{a}/ü', { a: 'é🚀' }, '%C3%A9%F0%9F%9A%80/%C3%BC'],
    ['whole characters of a prefix', '{a:2}', { a: '🚀é🚀' }, '%F0%9F%9A%80%C3%A9'],
    ['variables without values', '{a}{constructor}{__proto__}', {}, ''],
    ['names that every object has', '{constructor}', { constructor: 'x' }, 'x'],
    ['names with dots and escapes', '{a.b}{c%20d}', { 'a.b': 1, 'c%20d': 2 }, '12'],
    ['an apostrophe in the text', "it's{a}", { a: 1 }, "it's1"],
  ])('%s', (_, template, given, uri) => {
    expect(parseTemplate(template).expand(given)).toBe(uri)
  })

  test.each<[string, string, Record<string, TemplateValue>]>([
    ['a list cut to a prefix', '{a:3}', { a: ['x'] }],
    ['an object cut to a prefix', '{?a:3}', { a: { b: 'x' } }],
    ['a lone surrogate', '{a}', { a: '\ud800' }],
    ['half of a pair where more is allowed', '{+a}', { a: '\udc00' }],
  ])('%s is refused', (_, template, given) => {
    expect(() => parseTemplate(template).expand(given)).toThrow(TypeError)
  })

  test.each([
    ['../x'],
    ['../../etc/passwd'],
    ['%2e%2e'],
    ['%2e%2e%2fx'],
    ['..\\x'],
    ['a/b'],
    ['a?b'],
    ['a#b'],
    ['a;b'],
    ['@evil.test'],
    ['//evil.test'],
    ['\r\nx: y'],
  ])('the value %j stays in its segment', value => {
    const url = new URL(parseTemplate('https://api.test/users/{id}/keys').expand({ id: value }))
    expect(url.host).toBe('api.test')
    expect(url.search + url.hash).toBe('')
    const segments = url.pathname.split('/')
    expect(segments).toHaveLength(4)
    expect([segments[1], segments[3]]).toEqual(['users', 'keys'])
    expect(decodeURIComponent(segments[2] ?? '')).toBe(value)
  })

  // A segment of dots leads up however it is written, so there is no URI for such a value.
  test.each<[string, Record<string, TemplateValue>]>([
    ['a/{x}/b', { x: '.' }],
    ['a/{x}', { x: '..' }],
    ['{x}/b', { x: '..' }],
    ['a/{x}{y}/b', { x: '.', y: '.' }],
    ['a/.{x}/b', { x: '.' }],
    ['a{/x*}', { x: ['b', '..', 'c'] }],
    ['a/{+x}', { x: 'b/../../c' }],
    ['a/{+x}', { x: '%2e%2E/c' }],
    ['a/{+x}', { x: '.%2e' }],
    ['a/{x}?q', { x: '..' }],
    ['a/{x}{?q}', { x: '..', q: 1 }],
    ['a/{x}{#q}', { x: '..', q: 1 }],
  ])('%s with %j would lead out of its path', (template, given) => {
    expect(() => parseTemplate(template).expand(given)).toThrow(TypeError)
    expect(() => parseTemplate(template).expand(given)).toThrow('a segment of the path')
  })

  test.each<[string, Record<string, TemplateValue>, string]>([
    ['a/../b/{x}', { x: 'c' }, 'a/../b/c'],
    ['a/{x}', { x: '...' }, 'a/...'],
    ['a/{x}', { x: '..b' }, 'a/..b'],
    ['a/v{x}', { x: '..' }, 'a/v..'],
    ['a{?x}', { x: '../..' }, 'a?x=..%2F..'],
    ['a?x=/{+x}/', { x: '..' }, 'a?x=/../'],
    ['a{#x}', { x: '/../' }, 'a#/../'],
    ['a/{x}../b', {}, 'a/../b'],
  ])('%s with %j does not', (template, given, uri) => {
    expect(parseTemplate(template).expand(given)).toBe(uri)
  })
})

const encodedReserved = '%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%25%5C%20'

describe('reading a template', () => {
  test('gives its text and the names of its variables, each once', () => {
    const template = parseTemplate('a/{b,c:3}{/d*}/{b}{?e.f,c}')
    expect(template.text).toBe('a/{b,c:3}{/d*}/{b}{?e.f,c}')
    expect(template.variables).toEqual(['b', 'c', 'd', 'e.f'])
  })

  test.each([[''], ['no/variables'], ['%20'], ['ünï'], ['{a}{b}']])('"%s" is one', text => {
    expect(parseTemplate(text).text).toBe(text)
  })

  test.each([
    ['a{b', '"{" at 1 is never closed'],
    ['a}b', '"}" without "{"'],
    ['{a}}', '"}" without "{"'],
    ['{a{b}}', '"a{b" is not a valid variable'],
    ['{}', '"{}" has no variable'],
    ['{?}', '"{?}" has no variable'],
    ['{a,}', '"" is not a valid variable'],
    ['{?a,,b}', '"" is not a valid variable'],
    ['{ a }', '" a " is not a valid variable'],
    ['{user-id}', '"user-id" is not a valid variable'],
    ['{.a.}', '"a." is not a valid variable'],
    ['{a..b}', '"a..b" is not a valid variable'],
    ['{ä}', '"ä" is not a valid variable'],
    ['{a%2}', '"a%2" is not a valid variable'],
    ['{a**}', '"a**" is not a valid variable'],
    ['{a:3*}', '"a:3*" is not a valid variable'],
    ['{a*:3}', '"a*:3" is not a valid variable'],
    ['{a:0}', '"a:0" is not a valid variable'],
    ['{a:03}', '"a:03" is not a valid variable'],
    ['{a:10000}', '"a:10000" is not a valid variable'],
    ['{a:}', '"a:" is not a valid variable'],
    ['{a:-1}', '"a:-1" is not a valid variable'],
    ['{++a}', '"+a" is not a valid variable'],
    ['{=a}', 'the operator "=" is reserved'],
    ['{!a}', 'the operator "!" is reserved'],
    ['{@a}', 'the operator "@" is reserved'],
    ['{|a}', 'the operator "|" is reserved'],
    ['{,a}', 'the operator "," is reserved'],
    ['{$a}', '"$a" is not a valid variable'],
    ['a b', '" " must be encoded'],
    ['a\nb', '"\\n" must be encoded'],
    ['a\0b', '"\\u0000" must be encoded'],
    ['a"b', 'must be encoded'],
    ['a<b>', 'must be encoded'],
    ['a\\b', 'must be encoded'],
    ['a^b', 'must be encoded'],
    ['a`b', 'must be encoded'],
    ['a|b', 'must be encoded'],
    ['100%', '"%" must be encoded'],
    ['%zz', '"%" must be encoded'],
    ['\ud800', 'a lone surrogate'],
  ])('rejects %j and says why', (text, why) => {
    expect(() => parseTemplate(text)).toThrow(TypeError)
    expect(() => parseTemplate(text)).toThrow(why)
  })

  test('length and number of values are bounded', () => {
    expect(() => parseTemplate('x'.repeat(8193))).toThrow('more than 8192 characters')
    expect(parseTemplate('x'.repeat(8192)).match('x'.repeat(8192))).toEqual({})
    expect(() => parseTemplate('{a}/'.repeat(17))).toThrow('more than 16 values to find')
    const names = Array.from({ length: 200 }, (_, i) => `n${i}`)
    expect(parseTemplate(`x{?${names}}`).match('x?n199=1')).toEqual({ n199: '1' })
  })

  test('an error shows no more of a long template than a line', () => {
    const fail = () => parseTemplate(`${'x'.repeat(5000)}{`)
    expect(fail).toThrow(/^the URI template "x{100}…" is malformed: "\{" at 5000 is never closed$/)
  })
})

describe('the type of the variables', () => {
  test('is read from the template', () => {
    expectTypeOf<VariablesOf<'db://users/{id}'>>().toEqualTypeOf<{ readonly id: string }>()
    expectTypeOf<keyof VariablesOf<'no/variables'>>().toEqualTypeOf<never>()
    expectTypeOf<VariablesOf<'{a,b}/{+c}{.d}{/e*}'>>().toEqualTypeOf<{
      readonly a: string
      readonly b: string
      readonly c: string
      readonly d: string
      readonly e: readonly string[]
    }>()
    expectTypeOf<VariablesOf<'{id}{?q,tags*}{&n}{;v}{#part:3}'>>().toEqualTypeOf<{
      readonly id: string
      readonly q?: string
      readonly tags?: readonly string[]
      readonly n?: string
      readonly v?: string
      readonly part?: string
    }>()
    expectTypeOf<VariablesOf<'{/var:1,var}{?var}'>>().toEqualTypeOf<{ readonly var: string }>()
    expectTypeOf<VariablesOf<string>>().toEqualTypeOf<
      Readonly<Record<string, string | readonly string[]>>
    >()
  })

  test('is that of what a match gives', () => {
    const template = parseTemplate('db://users/{id}{?fields*}')
    expectTypeOf(template.match('')).toEqualTypeOf<
      { readonly id: string; readonly fields?: readonly string[] } | undefined
    >()
    const text: string = 'x/{y}'
    expectTypeOf(parseTemplate(text).match('')).toEqualTypeOf<
      Readonly<Record<string, string | readonly string[]>> | undefined
    >()
  })
})

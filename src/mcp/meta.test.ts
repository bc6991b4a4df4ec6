import { describe, expect, test } from 'vitest'
import { proves } from '../../test/requirements.ts'
import { deepFreeze } from '../util/objects.ts'
import {
  hasReservedPrefix,
  metaKeyProblem,
  metaKeys,
  readProgressToken,
  readRequestMeta,
  readTrace,
} from './meta.ts'

const { protocolVersion, clientCapabilities, clientInfo, logLevel } = metaKeys

const least = { [protocolVersion]: '2026-07-28', [clientCapabilities]: {} }

function params(...members: object[]): object {
  return { name: 'x', _meta: Object.assign({}, ...members) }
}

describe('the request metadata of a stateless request', () => {
  test('the required keys', () => {
    expect(readRequestMeta(params(least))).toEqual({
      ok: true,
      version: '2026-07-28',
      capabilities: {},
    })
  })

  test('is cached if it is immutable, and read again otherwise', () => {
    const repeated = deepFreeze({ ...least, [clientInfo]: { name: 'a', version: '1' } })
    const first = readRequestMeta({ _meta: repeated })
    expect(first).toMatchObject({ ok: true, client: { name: 'a' } })
    expect(readRequestMeta({ other: 1, _meta: repeated })).toBe(first)
    const shallow = Object.freeze({ ...least, [clientInfo]: { name: 'a', version: '1' } })
    readRequestMeta({ _meta: shallow })
    Object.assign(shallow[clientInfo], { name: 7 })
    expect(readRequestMeta({ _meta: shallow })).toMatchObject({ ok: false })
  })

  test('all keys', () => {
    const capabilities = {
      elicitation: { form: {}, url: {} },
      sampling: { tools: {} },
      roots: {},
      extensions: { 'io.modelcontextprotocol/tasks': {} },
      experimental: { 'com.example/x': {} },
      later: true,
    }
    const client = { name: 'host', version: '1', title: 'Host' }
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const meta = {
      [protocolVersion]: '2026-07-28',
      [clientCapabilities]: capabilities,
      [clientInfo]: client,
      [logLevel]: 'debug',
      progressToken: 0,
      traceparent,
      'com.example/own': 1,
    }
    expect(readRequestMeta(params(meta))).toEqual({
      ok: true,
      version: '2026-07-28',
      capabilities,
      client,
      logLevel: 'debug',
      progressToken: 0,
      trace: { traceparent },
    })
  })

  test.each([
    ['no params', undefined],
    ['null for params', null],
    ['params by position', [{ _meta: least }]],
    ['no _meta', {}],
    ['a _meta that is a list', { _meta: [least] }],
    ['a _meta that is null', { _meta: null }],
    ['an empty _meta', params()],
    ['a progress token alone', params({ progressToken: 1 })],
    ['capabilities alone', params({ [clientCapabilities]: {} })],
    ['a trace alone', params({ traceparent: 'x' })],
  ])('%s is none', (_, value) => {
    expect(readRequestMeta(value)).toBeUndefined()
  })

  test.each([
    ['no params', undefined, [protocolVersion, clientCapabilities]],
    ['an empty _meta', params(), [protocolVersion, clientCapabilities]],
    ['capabilities alone', params({ [clientCapabilities]: {} }), [protocolVersion]],
  ])('%s is a problem where one is required', (_, value, missing) => {
    expect(readRequestMeta(value, { required: true })).toMatchObject({
      ok: false,
      missing,
      invalid: [],
      message: `_meta: ${missing.map(key => `${key} is missing`).join(', ')}`,
    })
  })

  test('a missing key is named, and the version is still reported', () => {
    expect(readRequestMeta(params({ [protocolVersion]: 'v999' }))).toEqual({
      ok: false,
      version: 'v999',
      missing: [clientCapabilities],
      invalid: [],
      message: `_meta: ${clientCapabilities} is missing`,
    })
  })

  test.each([
    ['a version that is a number', { [protocolVersion]: 20260728 }, protocolVersion, 'a string'],
    ['a version that is null', { [protocolVersion]: null }, protocolVersion, 'a string'],
    ['capabilities that are null', { [clientCapabilities]: null }, clientCapabilities, 'an object'],
    ['capabilities in a list', { [clientCapabilities]: [] }, clientCapabilities, 'an object'],
    [
      'a capability that is true',
      { [clientCapabilities]: { sampling: true } },
      clientCapabilities,
      'an object whose sampling is one too',
    ],
    [
      'two capabilities that are none',
      { [clientCapabilities]: { elicitation: null, roots: 1 } },
      clientCapabilities,
      'an object whose elicitation and roots are objects',
    ],
    [
      'a client without version',
      { [clientInfo]: { name: 'x' } },
      clientInfo,
      'an object with a name and a version',
    ],
    ['a client by name', { [clientInfo]: 'x' }, clientInfo, 'an object with a name and a version'],
    ['an unknown level', { [logLevel]: 'loud' }, logLevel, 'a log level'],
    ['a level from a prototype', { [logLevel]: 'constructor' }, logLevel, 'a log level'],
    ['a fraction as token', { progressToken: 1.5 }, 'progressToken', 'a string or an integer'],
    ['an object as token', { progressToken: {} }, 'progressToken', 'a string or an integer'],
  ])('%s is named', (_, member, key, expected) => {
    expect(readRequestMeta(params(least, member))).toMatchObject({
      ok: false,
      missing: [],
      invalid: [{ key, expected }],
      message: `_meta: ${key} must be ${expected}`,
    })
  })

  test('several problems are named together', () => {
    const meta = { [protocolVersion]: 1, [logLevel]: 1 }
    expect(readRequestMeta({ _meta: meta })).toEqual({
      ok: false,
      version: undefined,
      missing: [clientCapabilities],
      invalid: [
        { key: protocolVersion, expected: 'a string' },
        { key: logLevel, expected: 'a log level' },
      ],
      message: `_meta: ${clientCapabilities} is missing, ${protocolVersion} must be a string, ${logLevel} must be a log level`,
    })
  })

  test('claims of role or tenant are ignored', () => {
    const forged = JSON.parse(
      '{"role":"admin","com.example/tenant":"other","__proto__":{"principal":"root"},"constructor":1}',
    )
    expect(readRequestMeta({ _meta: { ...forged, ...least } })).toEqual(
      readRequestMeta(params(least)),
    )
  })
})

describe('the progress token', () => {
  test.each([
    ['', ''],
    [0, 0],
    [-1, -1],
    ['t', 't'],
    [1.5, undefined],
    [null, undefined],
    [true, undefined],
    [undefined, undefined],
  ])('%j is read as %j', (progressToken, read) => {
    expect(readProgressToken({ _meta: { progressToken } })).toBe(read)
  })

  test.each([[undefined], [null], [[]], [{}], [{ _meta: 'x' }]])('%j has none', value => {
    expect(readProgressToken(value)).toBeUndefined()
  })
})

describe('the trace', () => {
  const id = '0af7651916cd43dd8448eb211c80319c'
  const span = '00f067aa0ba902b7'
  const traceparent = `00-${id}-${span}-01`

  test('is read unchanged', () => {
    proves('B13')
    const meta = { traceparent, tracestate: 'a=1,b@c=2', baggage: 'userId=alice,x=1;p' }
    expect(readTrace({ _meta: meta })).toEqual(meta)
  })

  test.each([
    ['of a later version, which may be longer', `01-${id}-${span}-01-more`],
    ['of a later version', `fe-${id}-${span}-00`],
  ])('one %s is taken', (_, parent) => {
    expect(readTrace({ _meta: { traceparent: parent } })).toEqual({ traceparent: parent })
  })

  test.each([
    ['too short', traceparent.slice(0, -1)],
    ['too long for its version', `${traceparent}-more`],
    ['followed by something else', `${traceparent}0`],
    ['in upper case', traceparent.toUpperCase()],
    ['of the forbidden version', `ff-${id}-${span}-01`],
    ['without a trace', `00-${'0'.repeat(32)}-${span}-01`],
    ['without a span', `00-${id}-${'0'.repeat(16)}-01`],
    ['with a line break', `${traceparent}\n`],
    ['with a line break behind', `01-${id}-${span}-01-\r\nx: y`],
    ['not a string', 1],
  ])('a parent that is %s is left out with its state', (_, parent) => {
    proves('B13')
    expect(readTrace({ _meta: { traceparent: parent, tracestate: 'a=1' } })).toBeUndefined()
    expect(readTrace({ _meta: { traceparent: parent, baggage: 'k=v' } })).toEqual({
      baggage: 'k=v',
    })
  })

  test.each([
    ['with a line break', 'a=1\r\nx: y'],
    ['with other scripts', 'a=ö'],
    ['too long', 'x'.repeat(8193)],
    ['empty', ''],
    ['a list', ['a=1']],
  ])('a state or baggage that is %s is left out', (_, text) => {
    const meta = { traceparent, tracestate: text, baggage: text }
    expect(readTrace({ _meta: meta })).toEqual({ traceparent })
  })
})

describe('keys of _meta', () => {
  test.each([
    ['progressToken'],
    ['a'],
    [''],
    ['a_b-c.d'],
    ['com.example/name'],
    ['com.example/'],
    ['x/y'],
    ['io.modelcontextprotocol/related-task'],
    ['a1-b.c/9'],
    ...Object.values(metaKeys).map((key): [string] => [key]),
  ])('"%s" is a good one', key => {
    expect(metaKeyProblem(key)).toBeUndefined()
  })

  test.each([
    ['/name', 'prefix'],
    ['1com.example/name', 'prefix'],
    ['com..example/name', 'prefix'],
    ['com.example-/name', 'prefix'],
    ['com.exa_mple/name', 'prefix'],
    ['com.example.//name', 'prefix'],
    ['com.example/a/b', 'name'],
    ['com.example/-a', 'name'],
    ['a.', 'name'],
    ['_a', 'name'],
    ['a b', 'name'],
    ['ö', 'name'],
    ['__proto__', 'name'],
    ['a\n', 'name'],
  ])('"%s" is not, because of its %s', (key, part) => {
    proves('B11')
    expect(metaKeyProblem(key)).toMatch(`its ${part}`)
  })

  const rows: [key: string, secondLabel: boolean, anyLabel: boolean][] = [
    ['io.modelcontextprotocol/x', true, false],
    ['dev.mcp/x', true, false],
    ['org.modelcontextprotocol.api/x', true, true],
    ['com.mcp.tools/x', true, true],
    ['IO.ModelContextProtocol/x', true, false],
    ['com.example.mcp/x', false, false],
    ['modelcontextprotocol.io/x', false, true],
    ['mcp.dev/x', false, true],
    ['api.modelcontextprotocol.org/x', true, true],
    ['a.b.mcp.com/x', false, true],
    ['mcp/x', false, false],
    ['com.example/mcp', false, false],
    ['mcp', false, false],
    ['progressToken', false, false],
  ]

  test.each(rows)('%s: reserved by the second label %s, by any label %s', (key, second, any) => {
    proves('B12', 'B12b')
    expect(hasReservedPrefix(key, 'second label')).toBe(second)
    expect(hasReservedPrefix(key, 'none')).toBe(false)
    expect(hasReservedPrefix(key, 'any label')).toBe(any)
  })

  test('of this package have a reversed domain name as prefix', () => {
    proves('B11e')
    for (const key of Object.values(metaKeys)) {
      const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : undefined
      if (prefix !== undefined)
        expect(prefix.split('.').reverse().join('.')).toMatch(/\.(io|com|org)$/)
    }
  })

  test('the protocol’s own keys are reserved, where they have a prefix', () => {
    const own = Object.values(metaKeys).filter(key => key.includes('/'))
    expect(own.filter(key => !hasReservedPrefix(key, 'second label'))).toEqual([])
  })
})

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { describe, expect, test } from 'vitest'
import type { Middleware } from '../../jsonrpc/handler.ts'
import { changeOf, diffConfig } from './diff.ts'
import { readConfig } from './read.ts'
import { fieldsOf } from './schema.ts'

const url = 'http://127.0.0.1:1/mcp'

function read(value: object) {
  return readConfig(JSON.stringify({ mcpServers: {}, ...value }), { env: { A: '1', B: '2' } })
}

const withServer = (server: object) => read({ mcpServers: { a: server } })

const nothing = {
  added: [],
  removed: [],
  changed: [],
  adjusted: [],
  unchanged: [],
  listenChanged: false,
  policyChanged: false,
  settings: [],
}

test('servers are added, removed, changed, adjusted and left alone', () => {
  const before = read({
    mcpServers: {
      gone: { command: 'a' },
      other: { command: 'b' },
      tuned: { command: 'c' },
      same: { command: 'd' },
    },
  })
  const after = read({
    mcpServers: {
      same: { command: 'd' },
      tuned: { command: 'c', limits: { concurrent: 1 } },
      other: { command: 'b', args: ['x'] },
      fresh: { url },
    },
  })
  expect(diffConfig(before, after)).toEqual({
    ...nothing,
    added: ['fresh'],
    removed: ['gone'],
    changed: ['other'],
    adjusted: ['tuned'],
    unchanged: ['same'],
  })
})

describe('a change that keeps connections', () => {
  const cases: readonly [name: string, before: object, after: object][] = [
    ['limits', {}, { limits: { perSecond: 1 } }],
    ['a breaker', { breaker: { failures: 1 } }, { breaker: false }],
    ['rules for tools', { tools: { deny: ['a'] } }, { tools: { deny: ['b'] } }],
    ['a description of a tool', {}, { tools: { describe: { a: 'b' } } }],
    ['a prefix', {}, { prefix: false }],
    ['times', { timeoutMs: 1 }, { timeoutMs: 2, connectTimeoutMs: 3 }],
    ['restarts', {}, { restart: false }],
  ]

  test.each(cases)('%s', (_, before, after) => {
    const diff = diffConfig(
      withServer({ command: 'x', ...before }),
      withServer({ command: 'x', ...after }),
    )
    expect(diff).toEqual({ ...nothing, adjusted: ['a'] })
  })
})

describe('a change that needs a new connection', () => {
  const cases: readonly [name: string, before: object, after: object][] = [
    ['another program', { command: 'x' }, { command: 'y' }],
    ['an address instead', { command: 'x' }, { url }],
    [
      'arguments in another order',
      { command: 'x', args: ['a', 'b'] },
      { command: 'x', args: ['b', 'a'] },
    ],
    [
      'another variable',
      { command: 'x', env: { K: '${A}' } },
      { command: 'x', env: { K: '${B}' } },
    ],
    ['another header', { url, headers: { K: 'a' } }, { url, headers: { K: 'b' } }],
    ['more instances', { command: 'x' }, { command: 'x', instances: 2 }],
    ['with a policy', { command: 'x' }, { command: 'y', prefix: false }],
  ]

  test.each(cases)('%s', (_, before, after) => {
    expect(diffConfig(withServer(before), withServer(after))).toEqual({
      ...nothing,
      changed: ['a'],
    })
  })
})

describe('no change', () => {
  const cases: readonly [name: string, before: object, after: object][] = [
    [
      'members in another order',
      { command: 'x', env: { K: 'a', L: 'b' } },
      { env: { L: 'b', K: 'a' }, command: 'x' },
    ],
    ['written-out defaults', { command: 'x' }, { command: 'x', instances: 1, args: [] }],
    ['not being disabled', { command: 'x' }, { command: 'x', disabled: false }],
    ['a key that means nothing here', { command: 'x' }, { command: 'x', description: 'new' }],
  ]

  test.each(cases)('%s', (_, before, after) => {
    expect(diffConfig(withServer(before), withServer(after))).toEqual({
      ...nothing,
      unchanged: ['a'],
    })
  })
})

test('disabling a server removes it, and enabling it adds it', () => {
  const on = withServer({ command: 'x' })
  const off = withServer({ command: 'x', disabled: true })
  expect(diffConfig(on, off)).toEqual({ ...nothing, removed: ['a'] })
  expect(diffConfig(off, on)).toEqual({ ...nothing, added: ['a'] })
  expect(diffConfig(off, off)).toEqual(nothing)
})

test('addresses count, their order does not', () => {
  const [one, other] = ['http://127.0.0.1:1/mcp', 'stdio:']
  const both = read({ listen: [one, other] })
  expect(diffConfig(both, read({ listen: [other, one] }))).toEqual(nothing)
  expect(diffConfig(both, read({ listen: one }))).toEqual({ ...nothing, listenChanged: true })
})

test('settings of the router are named', () => {
  const after = read({
    instructions: 'x',
    limits: { concurrent: 1 },
    public: true,
    logLevel: 'error',
  })
  const { settings } = diffConfig(read({}), after)
  expect(settings).toEqual(['public', 'instructions', 'limits', 'logLevel'])
})

test('every field of a server declares whether a change requires a new connection', () => {
  const kept = Array.from(fieldsOf('server')).filter(([, field]) => !field.reconnects)
  expect(kept.map(([name]) => name)).toEqual([
    'disabled',
    'start',
    'prefix',
    'tools',
    'balance',
    'hash',
    'timeoutMs',
    'connectTimeoutMs',
    'startWaitMs',
    'breaker',
    'limits',
    'restart',
    'retry',
    'trustAnnotations',
    'health',
  ])
})

test('endpoints and middleware are compared by identity', () => {
  const middleware = (): Middleware => next => next
  const use = [middleware()]
  expect(changeOf({ command: 'x', use }, { command: 'x', use: [...use] })).toBe('unchanged')
  expect(changeOf({ command: 'x', use }, { command: 'x', use: [middleware()] })).toBe('changed')
  expect(changeOf({ command: 'x', use }, { command: 'x' })).toBe('changed')
})

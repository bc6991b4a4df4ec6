import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth, proportional } from '../../../test/fuzz/cost.ts'
import { limits } from '../../util/limits/limits.ts'
import {
  checkPrefix,
  checkServerName,
  exposedNameOf,
  exposeTools,
  prefixOf,
  type ServerListing,
  toolFilter,
} from './names.ts'

interface Named {
  readonly name: string
}

function server(name: string, tools: readonly string[], more: Partial<ServerListing<Named>> = {}) {
  return { name, tools: tools.map(tool => ({ name: tool })), ...more }
}

const shown = (...servers: readonly ServerListing<Named>[]) =>
  exposeTools(servers).entries.map(({ exposedName }) => exposedName)

const hidden = (...servers: readonly ServerListing<Named>[]) =>
  exposeTools(servers).hidden.map(one => `${one.server} ${one.tool.name}: ${one.why}`)

describe('the names that callers see', () => {
  test.each<[string, Partial<ServerListing<Named>>, string[]]>([
    ['the name of the server first', {}, ['files__read', 'files__write']],
    ['a prefix of choice', { prefix: 'f.' }, ['f.read', 'f.write']],
    ['no prefix', { prefix: false }, ['read', 'write']],
    ['an empty prefix', { prefix: '' }, ['read', 'write']],
    ['other names', { rules: { rename: { read: 'get' } } }, ['files__get', 'files__write']],
    [
      'swapped ones',
      { rules: { rename: { read: 'write', write: 'read' } } },
      ['files__write', 'files__read'],
    ],
    ['only the allowed', { rules: { allow: ['w*'] } }, ['files__write']],
    ['all but the denied', { rules: { deny: ['w*'] } }, ['files__read']],
    [
      'none of the denied, though allowed',
      { rules: { allow: ['*'], deny: ['read'] } },
      ['files__write'],
    ],
    ['nothing where nothing is allowed', { rules: { allow: [] } }, []],
    [
      'rules applied to upstream names',
      { rules: { rename: { read: 'get' }, allow: ['read'] } },
      ['files__get'],
    ],
  ])('have %s', (_, more, names) => {
    expect(shown(server('files', ['read', 'write'], more))).toEqual(names)
  })

  test('resolve to the server and the upstream name', () => {
    const long = 'x'.repeat(90)
    const { byName, entries } = exposeTools([server('files', ['read', long])])
    expect(byName.get('files__read')).toMatchObject({ server: 'files', tool: { name: 'read' } })
    const shortened = entries[1]?.exposedName ?? ''
    expect(byName.get(shortened)?.tool.name).toBe(long)
    expect(byName.get('__proto__')).toBeUndefined()
  })

  test('may be names that objects inherit', () => {
    const names = ['__proto__', 'constructor', 'toString']
    const rules = { rename: JSON.parse('{"__proto__":"proto"}') }
    expect(shown(server('x', names, { prefix: false, rules }))).toEqual([
      'proto',
      'constructor',
      'toString',
    ])
  })
})

describe('names that some clients reject', () => {
  // Clients store exposed names in their configuration, so a release must not change them.
  test.each([
    ['with other characters', 'files', 'git/commit', 'files__git_commit_3g1dklphv2'],
    ['with no allowed character', 'files', '日本', 'files_____lze788fxap'],
    ['of 65 characters', 'files', 'a'.repeat(58), `files__${'a'.repeat(46)}_n0cdo5b0qz`],
    ['of a long server', 's'.repeat(64), 'read', `${'s'.repeat(49)}read_ivekigy9ma`],
    [
      'of a long server and long itself',
      's'.repeat(64),
      'r'.repeat(64),
      `${'s'.repeat(24)}${'r'.repeat(29)}_018b17cv4i`,
    ],
  ])('%s end with a hash', (_, from, tool, name) => {
    expect(exposedNameOf(from, prefixOf(from), tool)).toBe(name)
    expect(name.length).toBeLessThanOrEqual(limits.exposedNameLength.default)
  })

  test('of 64 characters stay as they are', () => {
    const name = 'a'.repeat(57)
    expect(exposedNameOf('files', 'files__', name)).toBe(`files__${name}`)
  })

  test('become valid for all clients, deterministically', () => {
    const any = fc.string({ unit: 'grapheme', maxLength: 150 })
    fc.assert(
      fc.property(any, any, any, (from, prefix, tool) => {
        const name = exposedNameOf(from, prefix, tool)
        expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/)
        expect(exposedNameOf(from, prefix, tool)).toBe(name)
      }),
    )
  })

  test('stay distinct if they differ only in removed or replaced characters', () => {
    const names = ['a/b', 'a:b', 'a b', `${'x'.repeat(80)}1`, `${'x'.repeat(80)}2`]
    const servers = [server('one', names), server('two', names)]
    expect(new Set(shown(...servers)).size).toBe(10)
  })
})

describe('where two tools would have the same name', () => {
  test('the first server keeps it, and the other tool is hidden with a reason', () => {
    const servers = [server('a', ['x'], { prefix: false }), server('b', ['x'], { prefix: false })]
    expect(shown(...servers)).toEqual(['x'])
    expect(hidden(...servers)).toEqual(['b x: the name "x" is taken by "x" of server "a"'])
  })

  test('the first of one list keeps it', () => {
    const twice = server('a', ['x', 'y', 'x'], { rules: { rename: { y: 'x' } } })
    expect(shown(twice)).toEqual(['a__x'])
    expect(hidden(twice)).toEqual([
      'a y: the name "a__x" is taken by "x" of server "a"',
      'a x: its server lists it twice',
    ])
  })

  test('a hidden tool does not occupy a name', () => {
    const servers = [
      server('a', ['x'], { prefix: false, rules: { deny: ['x'] } }),
      server('b', ['x'], { prefix: false }),
    ]
    expect(exposeTools(servers).byName.get('x')?.server).toBe('b')
    expect(hidden(...servers)).toEqual(['a x: denied by tools.deny'])
  })

  test('every tool is either shown or hidden, each name once, and later servers change nothing', () => {
    const tool = fc.constantFrom('x', 'y', 'x/y', 'x y', 'b__x', '', 'w'.repeat(70))
    const some = fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b', 'a__b'),
        prefix: fc.constantFrom(undefined, false as const, 'a__', 'p'),
        tools: fc.array(
          tool.map(name => ({ name })),
          { maxLength: 6 },
        ),
        rules: fc.constantFrom(undefined, { deny: ['y'] }, { rename: { x: 'y' } }),
      }),
      { maxLength: 5 },
    )
    fc.assert(
      fc.property(some, servers => {
        const all = exposeTools(servers)
        const count = servers.reduce((sum, { tools }) => sum + tools.length, 0)
        expect(all.entries.length + all.hidden.length).toBe(count)
        expect(all.byName.size).toBe(all.entries.length)
        const fewer = exposeTools(servers.slice(0, -1))
        expect(all.entries.slice(0, fewer.entries.length)).toEqual(fewer.entries)
        expect(all.hidden.slice(0, fewer.hidden.length)).toEqual(fewer.hidden)
      }),
    )
  })
})

describe('the filter for lists and calls', () => {
  const why = toolFilter({ allow: ['read*', 'list'], deny: ['*_secret'] })

  test.each([
    ['read_file', undefined],
    ['list', undefined],
    ['write', 'not in tools.allow'],
    ['read_secret', 'denied by tools.deny'],
    ['', 'its name is empty'],
    ['read\u200b', 'its name contains an invisible character'],
    ['read\u{e0041}', 'its name contains an invisible character'],
    ['read\u001b[0m', 'its name contains an invisible character'],
  ])('%j: %s', (tool, reason) => {
    expect(why(tool)).toBe(reason)
  })

  test('without rules every named tool passes', () => {
    expect(toolFilter()('x')).toBeUndefined()
  })
})

describe('the name of a server', () => {
  test.each(['a', 'Files-2.v_1', 'x'.repeat(limits.serverNameLength.default)])(
    'may be %s',
    name => {
      expect(checkServerName(name)).toBeUndefined()
    },
  )

  test.each([
    ['', 'a server name must have 1 to 64 characters (got an empty name)'],
    ['x'.repeat(65), 'must have at most 64 characters (got 65)'],
    ['my files', 'server name "my files" contains " "; allowed are letters'],
    ['a/b', 'contains "/"'],
    ['größe', 'contains "ö"'],
    ['a\u200bb', 'contains U+200B'],
    ['😀', 'contains "😀"'],
  ])('cannot be %j', (name, why) => {
    expect(checkServerName(name)).toContain(why)
  })

  test('a prefix allows the same characters and is shorter', () => {
    expect(checkPrefix('files.')).toBeUndefined()
    expect(checkPrefix('')).toBeUndefined()
    expect(checkPrefix('a b')).toContain('prefix "a b" contains " "')
    expect(checkPrefix('a'.repeat(33))).toContain('must have at most 32 characters (got 33)')
  })
})

test('200 servers with 50 tools each are named in time proportional to their number', () => {
  const make = (tools: number, servers = 40) =>
    Array.from({ length: servers }, (_, at) =>
      server(
        `server-${at}`,
        Array.from({ length: tools }, (_, tool) => `tool/${tool}`),
        { rules: { deny: ['*_secret', 'x*y'], rename: { 'tool/1': 'first' } } },
      ),
    )
  const made = new Map<number, readonly ServerListing<Named>[]>(
    [4, 128].map(size => [size, make(size)]),
  )
  expect(exposeTools(make(50, 200)).entries).toHaveLength(10_000)
  const ratio = growth(4, size => void exposeTools(made.get(size) ?? []))
  expect(ratio).toBeLessThan(proportional)
})

import { describe, expect, test } from 'vitest'
import { addressesOf, flagFor, type ProcessEnvironment } from './serve-address.ts'

type Row = readonly [string, readonly string[], ProcessEnvironment, readonly string[]]

const rows: readonly Row[] = [
  ['nothing is stdio', [], {}, ['stdio:']],
  ['stdio by name', ['--stdio'], {}, ['stdio:']],
  ['a port', ['--tcp', '4000'], {}, ['tcp://127.0.0.1:4000']],
  ['a port after =', ['--tcp=4000'], {}, ['tcp://127.0.0.1:4000']],
  ['a host and a port', ['--tcp', '0.0.0.0:4000'], {}, ['tcp://0.0.0.0:4000']],
  ['an IPv6 host and a port', ['--ws', '[::1]:4000'], {}, ['ws://[::1]:4000/mcp']],
  ['a socket file', ['--unix', 'a.sock'], {}, ['unix:a.sock']],
  ['a named pipe', ['--pipe', 'weather'], {}, ['pipe:weather']],
  ['several', ['--tcp', '1', '--ws', '2'], {}, ['tcp://127.0.0.1:1', 'ws://127.0.0.1:2/mcp']],
  ['HTTP', ['--http', '3000'], {}, ['http://127.0.0.1:3000/mcp']],
  ['other arguments are ignored', ['--verbose', 'x', '-p', '3'], {}, ['stdio:']],
  ['a flag is not taken for a value', ['--unix', '--verbose'], { MCP_PATH: 'p' }, ['unix:p']],
  [
    'a transport in the environment',
    [],
    { MCP_TRANSPORT: 'TCP', MCP_PORT: '5' },
    ['tcp://127.0.0.1:5'],
  ],
  ['the port of a platform', [], { MCP_TRANSPORT: 'ws', PORT: '80' }, ['ws://127.0.0.1:80/mcp']],
  ['MCP_PORT before PORT', ['--tcp'], { MCP_PORT: '1', PORT: '2' }, ['tcp://127.0.0.1:1']],
  ['a host in the environment', ['--tcp', '1'], { MCP_HOST: '::1' }, ['tcp://[::1]:1']],
  ['a path in the environment', ['--ws', '1'], { MCP_PATH: 'x' }, ['ws://127.0.0.1:1/x']],
  ['arguments before the environment', ['--stdio'], { MCP_TRANSPORT: 'tcp' }, ['stdio:']],
  ['empty variables count as none', [], { MCP_TRANSPORT: '', MCP_PORT: '' }, ['stdio:']],
]

describe('where a program serves', () => {
  test.each(rows)('%s', (_, argv, env, addresses) => {
    expect(addressesOf(argv, env)).toEqual(addresses)
  })

  const refusals: readonly (readonly [string, readonly string[], ProcessEnvironment, string])[] = [
    ['a port is missing', ['--tcp'], {}, '--tcp needs a port'],
    ['a path is missing', ['--unix'], {}, '--unix needs a path'],
    [
      'what is no port',
      ['--ws', 'here'],
      {},
      '--ws takes a port, or a host and a port, not "here"',
    ],
    [
      'an unknown transport',
      [],
      { MCP_TRANSPORT: 'udp' },
      'MCP_TRANSPORT must be one of stdio, tcp',
    ],
  ]

  test.each(refusals)('says what is wrong: %s', (_, argv, env, words) => {
    expect(() => addressesOf(argv, env)).toThrow(words)
  })
})

describe('the flag for an address', () => {
  test.each([
    ['stdio:', '--stdio', undefined],
    ['tcp://:4000', '--tcp=localhost:4000', undefined],
    ['tcp://[::1]:4000', '--tcp=[::1]:4000', undefined],
    ['unix:/run/x.sock', '--unix=/run/x.sock', undefined],
    ['ws://127.0.0.1:1/a', '--ws=127.0.0.1:1', '/a'],
    ['http://example.test', '--http=example.test:80', '/'],
    ['http://u:p@example.test:81/mcp?x=1', '--http=example.test:81', '/mcp'],
  ])('%s is %s', (address, flag, path) => {
    const found = flagFor(address)
    expect(found).toEqual(path === undefined ? { flag } : { flag, path })
    const [parsed] = addressesOf([flag], path === undefined ? {} : { MCP_PATH: path })
    expect(flagFor(parsed ?? '')).toEqual(found)
  })
})

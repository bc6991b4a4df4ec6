import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseCommandLine } from '../arguments.ts'
import { commandNamed } from '../manual/manual.ts'
import { type CommandTarget, type LookUp, resolveTarget } from './target.ts'

const known: LookUp = async () => ({
  file: 'mcp.json',
  invalid: new Map([['broken', 'TOKEN is not set']]),
  servers: new Map<string, CommandTarget>([
    [
      'files',
      { name: 'files', where: { command: 'node', args: ['f.js'], env: { A: '1', B: '2' } } },
    ],
    ['remote', { name: 'remote', where: 'https://example.com/mcp', headers: { 'X-A': '1' } }],
  ]),
})
const nothing: LookUp = async () => ({ file: undefined, servers: new Map(), invalid: new Map() })

function target(argv: readonly string[], lookUp = known) {
  const command = commandNamed('call')
  if (command === undefined) throw new Error('no command')
  return resolveTarget(parseCommandLine(command, argv), lookUp)
}

describe('the target of a command line', () => {
  test('is the program after the dashes; everything before is for the command', async () => {
    const found = await target([
      'tool',
      'a=1',
      '--env',
      'X=y=z',
      '--cwd',
      'folder',
      '--',
      'node',
      's.js',
    ])
    expect(found.operands).toEqual(['tool', 'a=1'])
    expect(found.target.where).toEqual({
      command: 'node',
      args: ['s.js'],
      env: { X: 'y=z' },
      cwd: resolve('folder'),
    })
  })

  test('is an address, with headers', async () => {
    const found = await target(['http://x/mcp', 'tool', '--header', 'A: b: c', '--header', 'D:e'])
    expect(found.operands).toEqual(['tool'])
    expect(found.target).toMatchObject({ where: 'http://x/mcp', headers: { A: 'b: c', D: 'e' } })
  })

  test('is a configured server, with the options applied', async () => {
    const files = await target(['files', 'tool', '--env', 'B=3'])
    expect(files.target.where).toMatchObject({ command: 'node', env: { A: '1', B: '3' } })
    const remote = await target(['remote', '--header', 'X-B: 2'])
    expect(remote.target.headers).toEqual({ 'X-A': '1', 'X-B': '2' })
  })

  test.each([
    ['3000', 'http://127.0.0.1:3000/mcp'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000/mcp'],
    ['localhost:3000/other', 'http://localhost:3000/other'],
    ['[::1]:3000', 'http://[::1]:3000/mcp'],
  ])('is the server on a host and port: %s', async (text, url) => {
    expect((await target([text], nothing)).target.where).toBe(url)
    expect((await target([text], known)).target.where).toBe(url)
  })

  test('may follow the name of a tool if it is an address', async () => {
    const found = await target(['add', 'http://x/mcp', 'a=1'])
    expect([found.target.where, found.operands]).toEqual(['http://x/mcp', ['add', 'a=1']])
    await expect(target(['add', 'url=http://x'])).rejects.toThrow('has no server "add"')
  })

  test.each([
    [[], known, 'missing server'],
    [['file'], known, 'mcp.json has no server "file"; did you mean "files"?'],
    [['zzz'], known, 'its servers are files, remote'],
    [['broken'], known, 'server "broken" in mcp.json: TOKEN is not set'],
    [['files'], nothing, '"files" is not an address, and there is no configuration'],
    [
      ['server.js'],
      known,
      '"server.js" is a file: to start it, use "trunkline call -- node server.js"',
    ],
    [['a/b.py'], nothing, 'use "trunkline call -- python3 a/b.py"'],
    [['mcp.json'], nothing, 'use "trunkline call NAME --config mcp.json"'],
    [['example.com/mcp'], nothing, 'did you mean "https://example.com/mcp"?'],
    [['localhost'], nothing, 'did you mean "http://localhost"?'],
    [['add', 'a=1'], known, 'the server comes first: trunkline call TARGET add a=1'],
    [['npx', 'x', 'tool'], known, 'did you mean "trunkline call -- npx x tool"?'],
    [['stdio:'], known, '"stdio:" is not a server address'],
    [['ftp://x'], known, 'cannot read the address "ftp://x"'],
    [['files', '--header', 'A: b'], known, 'use --env for a program'],
    [
      ['http://x', '--header', 'nonsense'],
      known,
      '--header must be "Name: value" (got "nonsense")',
    ],
    [['--env', 'nonsense', '--', 'x'], known, '--env must be NAME=VALUE (got "nonsense")'],
  ])('cannot be determined from %j', async (argv, lookUp, message) => {
    await expect(target(argv, lookUp)).rejects.toThrow(message)
  })
})

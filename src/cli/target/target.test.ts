import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseInput } from '../arguments.ts'
import { commandNamed } from '../manual.ts'
import { type LookUp, resolveTarget, type Target } from './target.ts'

const known: LookUp = async () => ({
  file: 'mcp.json',
  servers: new Map<string, Target>([
    [
      'files',
      { name: 'files', where: { command: 'node', args: ['f.js'], env: { A: '1', B: '2' } } },
    ],
    ['remote', { name: 'remote', where: 'https://example.com/mcp', headers: { 'X-A': '1' } }],
  ]),
})
const nothing: LookUp = async () => ({ file: undefined, servers: new Map() })

function target(argv: readonly string[], lookUp = known) {
  const command = commandNamed('call')
  if (command === undefined) throw new Error('no command')
  return resolveTarget(parseInput(command, argv), lookUp)
}

describe('the server that is meant', () => {
  test('is the program behind the dashes, and everything before is for the command', async () => {
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

  test('is a name from the configuration, with what the options say on top', async () => {
    const files = await target(['files', 'tool', '--env', 'B=3'])
    expect(files.target.where).toMatchObject({ command: 'node', env: { A: '1', B: '3' } })
    const remote = await target(['remote', '--header', 'X-B: 2'])
    expect(remote.target.headers).toEqual({ 'X-A': '1', 'X-B': '2' })
  })

  test.each([
    [[], known, 'a server is needed'],
    [['file'], known, 'mcp.json has no server "file"; did you mean "files"?'],
    [['zzz'], known, 'it has files, remote'],
    [['files'], nothing, '"files" is no address, and there is no configuration'],
    [['stdio:'], known, '"stdio:" is no server to talk to'],
    [['ftp://x'], known, 'cannot read the address "ftp://x"'],
    [['files', '--header', 'A: b'], known, 'a program takes --env'],
    [['http://x', '--header', 'nonsense'], known, '--header is "Name: value", not "nonsense"'],
    [['--env', 'nonsense', '--', 'x'], known, '--env is NAME=VALUE, not "nonsense"'],
  ])('cannot be told from %j', async (argv, lookUp, words) => {
    await expect(target(argv, lookUp)).rejects.toThrow(words)
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { UpstreamOptions } from '../../router/options.ts'
import { UsageError } from '../exit.ts'
import { checkSelfReference } from './self-reference.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-loops-'))
const file = join(folder, '.mcp.json')
writeFileSync(file, '{}')
afterAll(() => rmSync(folder, { recursive: true }))

const check = (server: UpstreamOptions, ...listen: string[]) => {
  return () => checkSelfReference({ servers: { it: server }, listen, file })
}

describe('rejects a router as its own server', () => {
  const up = (...args: string[]): UpstreamOptions => ({ command: 'npx', args, cwd: folder })

  test.each<[string, UpstreamOptions, string]>([
    ['by its address', { url: 'http://127.0.0.1:3000/mcp' }, 'http://127.0.0.1:3000/mcp'],
    ['under another name', { url: 'http://localhost:3000/mcp' }, 'http://[::1]:3000/mcp'],
    ['over a WebSocket', { url: 'ws://127.0.0.1:3000/mcp' }, 'http://127.0.0.1:3000/mcp'],
    ['as one of several', { urls: [{ url: 'tcp://:4000' }] }, 'tcp://127.0.0.1:4000'],
    ['at a port left out', { url: 'http://localhost/mcp' }, 'http://127.0.0.1:80/mcp'],
    ['as a program that finds the file', up('trunkline', 'up', '--listen', 'stdio:'), 'stdio:'],
    ['as a program that names it', up('-y', 'trunkline@1', 'up', '.mcp.json'), 'stdio:'],
    ['as a program by its path', { ...up('up'), command: '/usr/bin/trunkline' }, 'stdio:'],
  ])('%s', (_name, server, listen) => {
    expect(check(server, listen)).toThrow(UsageError)
    expect(check(server, listen)).toThrow(/"it" in .*\.mcp\.json/)
    expect(check({ ...server, disabled: true }, listen)).not.toThrow()
  })

  test.each<[string, UpstreamOptions]>([
    ['another port', { url: 'http://127.0.0.1:3001/mcp' }],
    ['another path', { url: 'http://127.0.0.1:3000/other' }],
    ['another machine', { url: 'http://10.0.0.1:3000/mcp' }],
    ['another file', up('trunkline', 'up', 'other.json')],
    ['another folder', { ...up('trunkline', 'up'), cwd: tmpdir() }],
    ['the demo', up('trunkline', 'up', '--demo')],
    ['another command', up('trunkline', 'demo', 'clock')],
    ['another program', up('other', 'up')],
  ])('but not %s', (_name, server) => {
    expect(check(server, 'http://127.0.0.1:3000/mcp', 'http://127.0.0.1:0/mcp')).not.toThrow()
  })
})

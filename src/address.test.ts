import { describe, expect, test } from 'vitest'
import { parseAddress } from './address.ts'

describe('an address', () => {
  test.each([
    ['stdio:', { kind: 'stdio' }],
    ['tcp://127.0.0.1:4000', { kind: 'tcp', host: '127.0.0.1', port: 4000 }],
    ['TCP://127.0.0.1:4000/', { kind: 'tcp', host: '127.0.0.1', port: 4000 }],
    ['tcp://:0', { kind: 'tcp', host: 'localhost', port: 0 }],
    ['tcp://[::1]:65535', { kind: 'tcp', host: '::1', port: 65_535 }],
    ['tcp://[fe80::1%eth0]:1', { kind: 'tcp', host: 'fe80::1%eth0', port: 1 }],
    ['tcp://0.0.0.0:80', { kind: 'tcp', host: '0.0.0.0', port: 80 }],
    ['unix:/run/x.sock', { kind: 'unix', path: '/run/x.sock' }],
    ['unix:///run/x.sock', { kind: 'unix', path: '/run/x.sock' }],
    ['unix:x.sock', { kind: 'unix', path: 'x.sock' }],
    ['unix:/with space/ä:1', { kind: 'unix', path: '/with space/ä:1' }],
  ])('%s is read', (text, expected) => {
    expect(parseAddress(text, 'linux')).toEqual(expected)
  })

  test.each([
    ['ws://127.0.0.1:4000/mcp', 'ws://127.0.0.1:4000/mcp'],
    ['ws://:4000', 'ws://localhost:4000/'],
    ['ws://[::1]:0/a?b=c', 'ws://[::1]:0/a?b=c'],
    ['WSS://Example.test/x', 'wss://example.test/x'],
  ])('%s is read as a WebSocket', (text, href) => {
    const address = parseAddress(text)
    expect(address.kind === 'websocket' && address.url.href).toBe(href)
  })

  test.each([
    ['http://127.0.0.1:80/mcp', 'http://127.0.0.1/mcp'],
    ['http://:4000/mcp', 'http://localhost:4000/mcp'],
    ['HTTPS://Example.test', 'https://example.test/'],
  ])('%s is read as HTTP', (text, href) => {
    const address = parseAddress(text)
    expect(address.kind === 'http' && address.url.href).toBe(href)
  })

  test.each([
    [''],
    ['4000'],
    ['localhost:4000'],
    ['/run/x.sock'],
    ['constructor:'],
    ['ftp://localhost/'],
    ['http:localhost'],
    ['http://localhost/#part'],
    ['stdio:x'],
    ['tcp:127.0.0.1:4000'],
    ['tcp://127.0.0.1'],
    ['tcp://127.0.0.1:'],
    ['tcp://127.0.0.1:65536'],
    ['tcp://127.0.0.1:-1'],
    ['tcp://127.0.0.1:1e3'],
    ['tcp://::1:4000'],
    ['tcp://[]:4000'],
    ['tcp://me@localhost:4000'],
    ['tcp://localhost:4000/path'],
    ['unix:'],
    ['unix:/'],
    ['unix://host/path'],
    ['unix:\0abstract'],
    ['pipe:'],
    ['pipe:a/b'],
    ['pipe:\\\\.\\pipe\\x'],
    ['http:///mcp'],
    ['http://\\host/'],
    ['ws:'],
    ['ws:localhost'],
    ['ws://'],
    ['ws://a b/'],
    ['ws://localhost:70000/'],
    ['ws://localhost/#part'],
  ])('rejects %j with its text and the supported forms', text => {
    expect(() => parseAddress(text, 'win32')).toThrow(TypeError)
    expect(() => parseAddress(text, 'win32')).toThrow(`"${text}"`)
    expect(() => parseAddress(text, 'win32')).toThrow('tcp://host:port')
  })

  test('a pipe is a Windows path on Windows', () => {
    expect(parseAddress('pipe:trunk', 'win32')).toEqual({
      kind: 'pipe',
      path: '\\\\.\\pipe\\trunk',
    })
  })

  test('rejects a socket file on Windows and names the alternative', () => {
    expect(() => parseAddress('unix:/run/x', 'win32')).toThrow('use pipe:name here')
  })

  test('rejects a pipe elsewhere and names the alternative', () => {
    expect(() => parseAddress('pipe:trunk', 'linux')).toThrow('"pipe:trunk" exists only on Windows')
  })
})

import { expect, test } from 'vitest'
import { profile } from '../mcp/profile.ts'
import { Server } from './server.ts'

/** A server as code without types sees it: every method takes anything. */
function untyped(): Record<'tool' | 'resource' | 'resourceTemplate' | 'prompt', Loose> {
  return new Server({ name: 'loose', version: '1.0.0' }) as never
}

type Loose = (...args: readonly unknown[]) => unknown

const code = () => 'done'

test.each([
  [
    'a tool without a definition',
    () => untyped().tool('t', code),
    'tool "t": the definition must be an object, at least {} (got a function)',
  ],
  [
    'a tool without a handler',
    () => untyped().tool('t', {}),
    'tool "t": the handler, the last argument, must be a function (got undefined)',
  ],
  [
    'a tool that is described by a text',
    () => untyped().tool('t', 'what it does', {}, code),
    'tool "t": the definition must be an object, at least {} (got a string)',
  ],
  [
    'a tool with the member names of another library',
    () => untyped().tool('t', { inputSchema: {} }, code),
    'tool "t": "inputSchema" is called "input" here',
  ],
  [
    'a prompt with the member names of another library',
    () => untyped().prompt('p', { argsSchema: {} }, code),
    'prompt "p": "argsSchema" is called "args" here',
  ],
  [
    'a prompt without a definition',
    () => untyped().prompt('p', code),
    'prompt "p": the definition must be an object, at least {} (got a function)',
  ],
  [
    'a resource without a definition',
    () => untyped().resource('r', 'file:///r', code),
    'resource "r": the definition must be an object, at least {} (got a function)',
  ],
  [
    'a resource template without a handler',
    () => untyped().resourceTemplate('f', 'db://{id}', {}),
    'resource template "f": the handler, the last argument, must be a function (got undefined)',
  ],
])('%s is refused where it is registered', (_name, register, message) => {
  expect(register).toThrow(new TypeError(message))
})

test.each([
  [undefined, 'a server needs { name, version } (got undefined)'],
  ['weather', 'a server needs { name, version } (got a string)'],
  [{ version: '1.0.0' }, 'the "name" of a server must be a non-empty string (got undefined)'],
  [{ name: 'weather' }, 'the "version" of a server must be a non-empty string (got undefined)'],
  [
    { name: '', version: '1.0.0' },
    'the "name" of a server must be a non-empty string (got an empty string)',
  ],
])('a server made of %j is refused', (info, message) => {
  expect(() => new Server(info as never)).toThrow(new TypeError(message))
})

test('a page holds one entry at least', () => {
  const make = (pageSize: number) => () => new Server({ name: 'n', version: '1' }, { pageSize })
  for (const pageSize of [0, -1, 1.5, Number.NaN]) {
    expect(make(pageSize)).toThrow(TypeError)
  }
  expect(make(1)).not.toThrow()
})

test('a profile that does not exist is refused', () => {
  expect(() => profile('strict' as never)).toThrow(
    new TypeError('unknown profile "strict"; known profiles: mcp, erlmcp, jsonrpc'),
  )
})

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
    'tool "t": the definition is an object, at least {}, not a function',
  ],
  [
    'a tool without code',
    () => untyped().tool('t', {}),
    'tool "t": what runs is a function, the last argument, not undefined',
  ],
  [
    'a tool that is described by a text',
    () => untyped().tool('t', 'what it does', {}, code),
    'tool "t": the definition is an object, at least {}, not a string',
  ],
  [
    'a tool in the words of another library',
    () => untyped().tool('t', { inputSchema: {} }, code),
    'tool "t": "inputSchema" is called "input" here',
  ],
  [
    'a prompt in the words of another library',
    () => untyped().prompt('p', { argsSchema: {} }, code),
    'prompt "p": "argsSchema" is called "args" here',
  ],
  [
    'a prompt without a definition',
    () => untyped().prompt('p', code),
    'prompt "p": the definition is an object, at least {}, not a function',
  ],
  [
    'a resource without a definition',
    () => untyped().resource('r', 'file:///r', code),
    'resource "r": the definition is an object, at least {}, not a function',
  ],
  [
    'a family of resources without code',
    () => untyped().resourceTemplate('f', 'db://{id}', {}),
    'resource template "f": what runs is a function, the last argument, not undefined',
  ],
])('%s is refused where it is registered', (_name, register, message) => {
  expect(register).toThrow(new TypeError(message))
})

test.each([
  [undefined, 'a server is made of { name, version }, not of undefined'],
  ['weather', 'a server is made of { name, version }, not of a string'],
  [{ version: '1.0.0' }, 'the "name" of a server is a text, not undefined'],
  [{ name: 'weather' }, 'the "version" of a server is a text, not undefined'],
  [{ name: '', version: '1.0.0' }, 'the "name" of a server is a text, not an empty one'],
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
    new TypeError('no profile is called "strict"; there are mcp, erlmcp, jsonrpc'),
  )
})

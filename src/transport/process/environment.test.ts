import { describe, expect, test } from 'vitest'
import { childEnvironment } from './environment.ts'

describe('the environment of a child process', () => {
  test('hands down what is named, and nothing like it', () => {
    const inherited = { API_KEY: 'k', API_KEY_OLD: 'o', SECRET: 's' }
    expect(childEnvironment({}, ['API_KEY', '*', 'SEC.*'], inherited, 'linux')).toEqual({
      API_KEY: 'k',
    })
  })

  test('is what every program needs, plus its own', () => {
    const inherited = {
      PATH: '/bin',
      HOME: '/home/me',
      LC_ALL: 'C',
      AWS_SECRET: 'x',
      path: 'not the path',
      SHELL: undefined,
    }
    expect(childEnvironment({ TOKEN: 't' }, [], inherited, 'linux')).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      LC_ALL: 'C',
      TOKEN: 't',
    })
  })

  test('is overridden by its own variables, and undefined takes one away', () => {
    const own = { PATH: '/mine', HOME: undefined }
    expect(childEnvironment(own, [], { PATH: '/bin', HOME: '/home/me' }, 'linux')).toEqual({
      PATH: '/mine',
    })
  })

  test('does not hand down functions of a shell', () => {
    expect(childEnvironment({}, [], { TERM: '() { :; }; evil' }, 'linux')).toEqual({})
  })

  test('on Windows accepts names in any case and keeps one spelling of each', () => {
    const inherited = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', AppData: 'C:\\me', Secret: 'x' }
    expect(childEnvironment({ PATH: 'D:\\bin' }, [], inherited, 'win32')).toEqual({
      PATH: 'D:\\bin',
      SystemRoot: 'C:\\Windows',
      AppData: 'C:\\me',
    })
  })

  test('has no room for the properties every object inherits', () => {
    const env = childEnvironment(JSON.parse('{"__proto__": "x"}'), [], {}, 'linux')
    expect(Object.keys(env)).toEqual(['__proto__'])
  })
})

import { expect, test } from 'vitest'
import { parseEnvFile } from './env-file.ts'

test('assignments are read, and everything else is ignored', () => {
  const text = [
    '# a comment',
    'PLAIN=a b # why',
    'export EXPORTED = x',
    "SINGLE='a # $b \\n'",
    'DOUBLE="a\\n\\"b\\""',
    'LINES="first',
    'second"',
    'EMPTY=',
    'HASH=a#b',
    'not an assignment',
    '__proto__=x',
    'PLAIN=last',
    'OPEN="unterminated',
  ].join('\r\n')
  expect([...parseEnvFile(text)]).toEqual([
    ['PLAIN', 'last'],
    ['EXPORTED', 'x'],
    ['SINGLE', 'a # $b \\n'],
    ['DOUBLE', 'a\n"b"'],
    ['LINES', 'first\r\nsecond'],
    ['EMPTY', ''],
    ['HASH', 'a#b'],
    ['__proto__', 'x'],
    ['OPEN', '"unterminated'],
  ])
})

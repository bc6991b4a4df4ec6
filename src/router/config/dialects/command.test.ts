import { expect, test } from 'vitest'
import { splitCommand } from './command.ts'

test.each([
  ['node srv.mjs', { command: 'node', args: ['srv.mjs'], isCertain: true }],
  ['npx.cmd -y "a b" \'c\'', { command: 'npx.cmd', args: ['-y', 'a b', 'c'], isCertain: true }],
  ['my server', { command: 'my', args: ['server'], isCertain: false }],
])('%s is split', (text, expected) => {
  expect(splitCommand(text)).toEqual(expected)
})

test.each([
  'node',
  ' node ',
  '',
  '/opt/my server/bin',
  'C:\\Program Files\\server.exe',
  'node a.js | tee log',
  'node $(which server)',
])('%s is left alone', text => {
  expect(splitCommand(text)).toBeUndefined()
})

import { expect, test } from 'vitest'
import { checkServerName } from '../../catalog/names.ts'
import { validNames } from './names.ts'

test.each([
  [
    ['files', 'a.b-c_d'],
    ['files', 'a.b-c_d'],
  ],
  [['My Files'], ['My_Files']],
  [['github.com/upstash/context7-mcp'], ['context7-mcp']],
  [
    ['@scope/server', 'server'],
    ['scope_server', 'server'],
  ],
  [
    ['a/x', 'b/x', 'c/x'],
    ['x', 'b_x', 'c_x'],
  ],
  [['Météo'], ['Meteo']],
  [
    ['文件', '', '  '],
    ['server', 'server_2', 'server_3'],
  ],
  [
    ['my files', 'my_files', 'my  files'],
    ['my_files_2', 'my_files', 'my_files_3'],
  ],
  [
    ['x'.repeat(100), 'x'.repeat(101)],
    ['x'.repeat(64), `${'x'.repeat(62)}_2`],
  ],
])('%j become %j', (given, expected) => {
  expect(validNames(given)).toEqual(expected)
  for (const name of validNames(given)) expect(checkServerName(name)).toBeUndefined()
})

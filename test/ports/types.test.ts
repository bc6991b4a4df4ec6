import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { files, read, root } from '../sources.ts'

const programs = ['everyday', 'ports'].flatMap(folder =>
  files(`examples/${folder}`)
    .filter(name => name.endsWith('.js'))
    .map(name => `examples/${folder}/${name}`),
)

test('the compiler accepts them', async () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [tsc, '-p', 'examples/tsconfig.json'], {
    cwd: root,
  })
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
})

test.each(programs)('%s is checked, without a cast', path => {
  const source = read(path)
  expect(source).toMatch(/^\/\/ @ts-check\n/)
  // A const assertion narrows a literal; any other type before a parenthesis is a cast.
  expect(source).not.toMatch(/@type \{(?!const\})[^}]*\} \*\/ \((?!\s*\/)[^)]*\)(?! =>)/)
  expect(source).not.toMatch(/@ts-(ignore|expect-error|nocheck)/)
})

test.each(programs.filter(path => path.includes('/ports/')))('%s needs no raw middleware', path => {
  expect(read(path)).not.toMatch(/server\.use\(/)
})

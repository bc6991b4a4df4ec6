import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { files, read } from './sources.ts'

/** Programs that neither the compiler checks nor the tests run as a whole. */
const programs = ['scripts', 'site'].flatMap(folder =>
  files(folder)
    .filter(name => name.endsWith('.js') && !/(^|\/)(node_modules|dist)\//.test(name))
    .map(name => `${folder}/${name}`),
)

test.each(programs)('%s imports only names that its neighbors export', path => {
  const missing: string[] = []
  for (const [, names = '', from = ''] of read(path).matchAll(
    /^import \{([^}]*)\} from '(\.[^']*\.js)'/gm,
  )) {
    const target = posix.join(posix.dirname(path), from)
    const exported = exportsOf(read(target))
    for (const name of names.split(',').map(each => each.trim().split(/\s+as\s+/)[0] ?? '')) {
      if (name !== '' && !exported.has(name)) missing.push(`${name} from ${target}`)
    }
  }
  expect(missing).toEqual([])
})

function exportsOf(text: string): ReadonlySet<string> {
  const declared = text.matchAll(/^export (?:async )?(?:const|let|class|function\*?) (\w+)/gm)
  const listed = Array.from(text.matchAll(/^export \{([^}]*)\}/gm), ([, names = '']) =>
    names.split(',').map(
      each =>
        each
          .trim()
          .split(/\s+as\s+/)
          .at(-1) ?? '',
    ),
  )
  return new Set([...Array.from(declared, ([, name = '']) => name), ...listed.flat()])
}

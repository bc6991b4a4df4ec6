import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { read, root, subpaths, withoutComments } from './sources.ts'

test('the package exports the names that test/surface.txt lists, and no others', async () => {
  const parts: string[] = []
  for (const { specifier, list } of subpaths()) {
    const names = [...(await valuesOf(list)), ...typesOf(read(`src/${list}`))]
    parts.push([specifier, ...names.map(name => `  ${name}`)].join('\n'))
  }
  const surface = `${parts.join('\n\n')}\n`
  if (process.env.UPDATE === '1') writeFileSync(join(root, 'test/surface.txt'), surface)
  expect(surface).toBe(read('test/surface.txt'))
})

test.each(subpaths())('$specifier exports by name only', ({ list }) => {
  expect(withoutComments(read(`src/${list}`))).not.toMatch(/^export (\*|default)/m)
})

async function valuesOf(list: string): Promise<string[]> {
  const module = (await import(pathToFileURL(join(root, 'src', list)).href)) as object
  return Object.keys(module).sort()
}

/** Returns the exported types, read from the list itself because types do not exist at run time. */
function typesOf(text: string): string[] {
  const names: string[] = []
  for (const [, type, members] of withoutComments(text).matchAll(/^export (type )?\{([^}]*)\}/gm)) {
    for (const member of (members ?? '').split(',')) {
      const words = member.trim().split(/\s+/)
      const isType = type !== undefined || words[0] === 'type'
      if (isType && words[0] !== '') names.push(`type ${words.at(-1)}`)
    }
  }
  for (const [, name] of text.matchAll(/^export (?:interface|type) (\w+)/gm)) {
    names.push(`type ${name}`)
  }
  return names.sort()
}

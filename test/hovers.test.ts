import { describe, expect, test } from 'vitest'
import { Declarations } from './declarations.ts'
import { files, read } from './sources.ts'

/** A declaration, and whether a doc comment is directly before it. */
interface Declared {
  readonly name: string
  readonly isDocumented: boolean
}

const sources = files('src').filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))

test('every public name has a doc comment', () => {
  const names = new Set(
    [...read('test/surface.txt').matchAll(/^ {2}(?:type )?(\w+)$/gm)].map(([, one]) => one),
  )
  const found = sources
    .flatMap(path => declarations(read(`src/${path}`)))
    .filter(({ name }) => names.has(name))
  expect(found.length).toBeGreaterThan(100)
  const documented = new Set(found.filter(one => one.isDocumented).map(({ name }) => name))
  expect(found.map(({ name }) => name).filter(name => !documented.has(name))).toEqual([])
})

describe('every member of a public type has a doc comment', () => {
  const types = new Declarations().publicTypes()
  const folders = [...new Set(types.map(({ folder }) => folder))].sort()

  test('of many types', () => {
    expect(types.length).toBeGreaterThan(400)
    expect(types.flatMap(({ members }) => members).length).toBeGreaterThan(1400)
  })

  test.each(folders)('in %s', wanted => {
    const missing = types
      .filter(({ folder }) => folder === wanted)
      .flatMap(({ name, members }) =>
        members.filter(one => !one.isDocumented).map(one => `${name}.${one.name}`),
      )
    expect(missing).toEqual([])
  })
})

const declaration =
  /^export (?:declare |abstract |async )*(?:interface|type|function|const|class) (\w+)/

function declarations(text: string): Declared[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const [, name] = declaration.exec(line) ?? []
    if (name === undefined) return []
    // Reasons for the next line may stand between.
    const before = lines.slice(0, at).findLast(one => !one.trimStart().startsWith('//'))
    return [{ name, isDocumented: before?.trimEnd().endsWith('*/') ?? false }]
  })
}

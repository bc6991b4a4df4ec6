import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { read, root, sources } from './sources.ts'

/** The source files of each folder, by the folder's path from the root of the repository. */
const folders = new Map<string, string[]>()
for (const { path } of sources()) {
  const cut = path.lastIndexOf('/')
  const folder = cut === -1 ? 'src' : `src/${path.slice(0, cut)}`
  folders.set(folder, [...(folders.get(folder) ?? []), path.slice(cut + 1)])
}
const paths = [...folders.keys()].sort()

/** Folders with one file for each protocol feature, command or part, which may exceed the limit. */
const tables = new Set(['src/mcp/types', 'src/util/limits'])

describe('every folder of sources', () => {
  test.each(paths)('%s has a README that names its files', path => {
    const text = readmeOf(path)
    expect(text.split('\n', 1)[0]).toBe(`# ${path.replace(/^src\//, '')}`)
    expect(purposeOf(path)).toMatch(/^[A-Z`].*\.$/)
    const named = Array.from(text.matchAll(/^\| `([\w.-]+\.ts)` \|/gm), match => match[1] ?? '')
    expect(named.sort()).toEqual(folders.get(path)?.sort())
  })

  test.each(paths.filter(path => !tables.has(path)))('%s has at most 15 source files', path => {
    expect(folders.get(path)?.length).toBeLessThanOrEqual(15)
  })
})

test('the tree in docs/architecture.md is generated from these READMEs', () => {
  const document = read('docs/architecture.md')
  const place = /(<!-- tree: .*? -->\n```\n)(.*?)(```\n<!-- \/tree -->)/s
  const [, begin = '', shown = '', end = ''] = place.exec(document) ?? []
  const tree = treeOf(paths)
  if (process.env.UPDATE === '1') {
    const updated = document.replace(place, () => begin + tree + end)
    writeFileSync(join(root, 'docs/architecture.md'), updated)
    return
  }
  expect(shown).toBe(tree)
})

/** Returns one line for each folder, indented by its depth. */
function treeOf(all: readonly string[]): string {
  const lines = all.map(path => {
    const depth = path.split('/').length - 1
    const name = `${'  '.repeat(depth)}${path.slice(path.lastIndexOf('/') + 1)}/`
    return `${name.padEnd(24)} ${purposeOf(path)}\n`
  })
  return lines.join('')
}

/** Returns the first sentence below the title of a folder's README, which says what the folder does. */
function purposeOf(path: string): string {
  const paragraph = readmeOf(path).split('\n\n')[1] ?? ''
  const words = paragraph.replace(/\s+/g, ' ').trim()
  return /^.*?\.(?= |$)/.exec(words)?.[0] ?? ''
}

function readmeOf(path: string): string {
  const file = `${path}/README.md`
  return existsSync(join(root, file)) ? read(file) : ''
}

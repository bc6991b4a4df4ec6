import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { siteLink } from '../site/links.js'
import { type Item, linkOf, sidebar } from '../site/sidebar.js'
import { anchors, slug } from '../site/slug.js'
import { files, read, root } from './sources.ts'

const markdown = (name: string): boolean => name.endsWith('.md')
const docs = files('docs').filter(markdown)
const others = ['.github', 'examples'].flatMap(folder => files(folder).map(at => `${folder}/${at}`))
const pages = [...readdirSync(root), ...others, ...docs.map(name => `docs/${name}`)].filter(
  markdown,
)

/** Returns the links of a page to files of the repository, its own anchors included. */
function linksOf(page: string): string[] {
  const links = Array.from(read(page).matchAll(/\]\(([^)\s]+)\)/g), match => match[1] ?? '')
  return links.filter(link => !/^[a-z]+:/.test(link))
}

test.each(pages)('%s links to files that exist', page => {
  const paths = linksOf(page).map(link => link.split('#')[0] ?? '')
  expect(paths.filter(path => !existsSync(join(root, dirname(page), path)))).toEqual([])
})

test.each(pages)('%s links to headings that exist', page => {
  const missing = linksOf(page).filter(link => {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : posix.join(dirname(page), path)
    return anchor !== undefined && markdown(target) && !anchors(read(target)).includes(anchor)
  })
  expect(missing).toEqual([])
})

test('docs/finding-your-way.md answers each question with files by their names', () => {
  const rows = read('docs/finding-your-way.md').match(/^\| [A-Z].*\? \|.*$/gm) ?? []
  expect(rows).toHaveLength(12)
  for (const row of rows) {
    const answers = Array.from(row.matchAll(/\[`([^`]+)`\]\(\.\.\/src\/([^)]+)\)/g))
    expect(answers.length, row).toBeGreaterThan(0)
    // The name is the path below `src`, or its end; a folder stands for its README.
    const wrong = answers.filter(([, name = '', path = '']) => {
      return !`/${path.replace(/README\.md$/, '')}`.endsWith(`/${name}`)
    })
    expect(wrong.map(([link]) => link)).toEqual([])
  }
})

describe('an anchor', () => {
  test.each([
    ['Set-up', 'set-up'],
    ["What's new?", 'whats-new'],
    ['  Two  blanks ', 'two--blanks'],
    ['snake_case & co.', 'snake_case--co'],
    ['Größe: 10 MiB', 'größe-10-mib'],
  ])('of "%s" is %s', (heading, expected) => {
    expect(slug(heading)).toBe(expected)
  })

  test('has a number if the heading occurred before', () => {
    expect(anchors('# A\n## `B`\n## B\n## [B](x.md)')).toEqual(['a', 'b', 'b-1', 'b-2'])
  })

  test('is not created for a comment in a code block', () => {
    expect(anchors('# A\n```sh\n# not one\n```\n## B')).toEqual(['a', 'b'])
  })
})

describe('the site', () => {
  const flat = (items: readonly Item[]): (string | undefined)[] =>
    items.flatMap(({ link, items = [] }) => [link, ...flat(items)])
  const links = flat(sidebar(path => read(`docs/${path}`)))

  test.each(docs)('has docs/%s in its sidebar once', page => {
    expect(links.filter(link => link === linkOf(page))).toHaveLength(1)
  })

  test.each([
    ['limits.md#sizes', 'http.md', 'limits.md#sizes'],
    ['#sizes', 'limits.md', '#sizes'],
    ['https://example.com/a', 'http.md', 'https://example.com/a'],
    ['README.md', 'http.md', 'index.md'],
    ['../README.md', 'decisions/a.md', '../index.md'],
    ['../README.md', 'http.md', 'https://repo/blob/main/README.md'],
    ['../examples/http.js', 'http.md', 'https://repo/blob/main/examples/http.js'],
    ['../../src/a.ts#L3', 'decisions/a.md', 'https://repo/blob/main/src/a.ts#L3'],
  ])('turns %s on %s into %s', (href, page, expected) => {
    expect(siteLink(href, page, 'https://repo')).toBe(expected)
  })
})

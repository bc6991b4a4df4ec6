import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { files, read, root } from './sources.ts'

const pages = [...readdirSync(root), ...files('docs').map(name => `docs/${name}`)].filter(name =>
  name.endsWith('.md'),
)

test.each(pages)('%s links to files that exist', page => {
  const links = Array.from(read(page).matchAll(/\]\(([^)\s]+)\)/g), match => match[1] ?? '')
  const local = links.filter(link => !/^([a-z]+:|#)/.test(link)).map(link => link.split('#')[0])
  expect(local.filter(link => !existsSync(join(root, dirname(page), link ?? '')))).toEqual([])
})

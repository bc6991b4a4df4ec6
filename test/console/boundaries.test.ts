import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { files, importsOf, read, root } from '../sources.ts'

const page = join(root, 'dist/console/page')

test('the page imports nothing of src but the types of the wire', () => {
  const sources = files('console').filter(path => /\.tsx?$/.test(path))
  const wrong = sources.flatMap(path => {
    const text = read(`console/${path}`)
    const own = importsOf(text).filter(name => name.includes('/src/'))
    const typed = Array.from(text.matchAll(/import type \{[^}]*\} from '([^']*\/src\/[^']*)'/g))
    const allowed = typed.map(([, name]) => name).filter(name => name?.endsWith('/console/wire.ts'))
    return own.filter(name => !allowed.includes(name)).map(name => `${path} imports ${name}`)
  })
  expect(wrong).toEqual([])
})

test('the first load is at most 90 KB, and everything at most 150 KB, compressed', () => {
  const sizes = readdirSync(page)
    .filter(name => /\.(?:js|css|html)$/.test(name))
    .map(name => gzipSync(readFileSync(join(page, name)), { level: 9 }).length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90 * 1024)
})

test('the page names no other origin, and has no inline script or style', () => {
  const html = readFileSync(join(page, 'index.html'), 'utf8')
  expect(html).not.toMatch(/https?:|<style|style=|<script(?![^>]*src=)|\son\w+=/)
})

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
    const allowed = typed
      .map(([, name]) => name)
      .filter(name => /\/console\/wire(?:-\w+)?\.ts$/.test(name ?? ''))
    return own.filter(name => !allowed.includes(name)).map(name => `${path} imports ${name}`)
  })
  expect(wrong).toEqual([])
})

test('the first load is at most 90 KB, and everything at most 150 KB, compressed', () => {
  const all = readdirSync(page).filter(name => /\.(?:js|css|html)$/.test(name))
  const sizeOf = (names: readonly string[]): number =>
    names
      .map(name => gzipSync(readFileSync(join(page, name)), { level: 9 }).length)
      .reduce((sum, size) => sum + size, 0)
  const firstly = firstLoad(all)
  expect(firstly.length).toBeLessThan(all.length)
  expect(sizeOf(firstly)).toBeLessThan(90 * 1024)
  expect(sizeOf(all)).toBeLessThan(150 * 1024)
})

/** Returns the files that the HTML names, and the scripts that these import at once. */
function firstLoad(all: readonly string[]): readonly string[] {
  const found = new Set(['index.html'])
  for (const name of found) {
    const text = readFileSync(join(page, name), 'utf8')
    const isHtml = name.endsWith('.html')
    const named = isHtml
      ? text.matchAll(/assets\/([\w.-]+)/g)
      : text.matchAll(/(?:import|from)\s*["'`]\.\/([\w.-]+)["'`]/g)
    for (const [, other = ''] of named) if (all.includes(other)) found.add(other)
  }
  return [...found]
}

test('the page names no other origin, and has no inline script or style', () => {
  const html = readFileSync(join(page, 'index.html'), 'utf8')
  expect(html).not.toMatch(/https?:|<style|style=|<script(?![^>]*src=)|\son\w+=/)
})

import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Declarations } from '../declarations.ts'
import { root, subpaths } from '../sources.ts'

const declarations = new Declarations()

describe('the declarations of the package', () => {
  test('have a public name for every type in a public signature', () => {
    const unnamed = declarations.unnamedTypes().map(({ name, path }) => `${name}, in ${path}`)
    expect(unnamed).toEqual([])
  })

  test('keep the names of the sources', () => {
    const names = declarations.declaredNames()
    expect(names.length).toBeGreaterThan(500)
    expect(names.filter(name => name.includes('$'))).toEqual([])
  })

  test.each(subpaths())('of $specifier name the values that exist at run time', async subpath => {
    const { specifier, list } = subpath
    const url = pathToFileURL(`${root}dist/${list.replace(/\.ts$/, '.js')}`)
    const module = (await import(url.href)) as object
    expect(declarations.values(specifier)).toEqual(Object.keys(module).sort())
  })
})

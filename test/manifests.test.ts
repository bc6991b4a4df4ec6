import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { buildPackages } from '../scripts/install.js'
import { files, importsOf, read, root } from './sources.ts'

const exec = promisify(execFile)

type Versions = Readonly<Record<string, string>>

interface Manifest {
  readonly dependencies: Versions
  readonly devDependencies?: Versions
}

// The cast is safe: both files have this shape, and npm would reject any other.
const own = JSON.parse(read('package.json')) as Manifest
const others = JSON.parse(read('third-party/package.json')) as Manifest
const tools = { ...own.dependencies, ...own.devDependencies }
const folders = ['test', 'bench', 'examples'] as const

describe('every import of tests, benchmarks and examples', () => {
  const users = folders.flatMap(folder => usersIn(folder))

  test('is declared in package.json or in third-party/package.json', () => {
    const declared = { ...tools, ...others.dependencies }
    const wrong = users.filter(([, name]) => declared[name] === undefined)
    expect(wrong.map(user => user.join(' imports '))).toEqual([])
  })

  test('resolves to the declared version', () => {
    const wanted = { ...tools, ...others.dependencies }
    const wrong = [...new Set(users.map(([, name]) => name))].filter(name => {
      return folders.some(folder => versionFrom(folder, name) !== plain(wanted[name]))
    })
    expect(wrong).toEqual([])
  })
})

describe('third-party/package.json', () => {
  const all = folders.flatMap(folder => textsIn(folder)).join('\n')

  test.each(Object.keys(others.dependencies))('%s is used', name => {
    // A name built at run time is matched up to its variable part: `conformance-${…}`.
    const beginnings = [`'${name}'`, `'${name}/`, `\`${name.replace(/[\d.]+$/, '')}\${`]
    expect(beginnings.some(text => all.includes(text))).toBe(true)
  })

  test('names the same versions as package.json for packages in both', () => {
    const both = Object.keys(others.dependencies).filter(name => tools[name] !== undefined)
    for (const name of both) expect([name, others.dependencies[name]]).toEqual([name, tools[name]])
  })
})

test('npm start installs the dependencies and what the build needs, but no development tools', async () => {
  const program = "import('./scripts/install.js').then(i => console.log(i.neededToRun().join()))"
  const { stdout } = await exec(process.execPath, ['--eval', program], { cwd: root })
  const paths = stdout.trim().split(',')
  const wanted = [...Object.keys(own.dependencies), ...buildPackages]
  expect(wanted.filter(name => !paths.includes(`node_modules/${name}`))).toEqual([])
  const unwanted = Object.keys(tools).filter(name => !wanted.includes(name))
  expect(unwanted.filter(name => paths.includes(`node_modules/${name}`))).toEqual([])
})

test('src and its tests import nothing from third-party', () => {
  const wrong = usersIn('src').filter(([, name]) => tools[name] === undefined)
  expect(wrong.map(user => user.join(' imports '))).toEqual([])
})

test.each(['package-lock.json', 'third-party/package-lock.json'])('%s names no registry', path => {
  const { packages } = JSON.parse(read(path)) as { packages: Record<string, object> }
  const named = Object.entries(packages).filter(([, entry]) => Object.hasOwn(entry, 'resolved'))
  expect(named.map(([name]) => name)).toEqual([])
})

/** Returns each file of a folder with each package that it imports. */
function usersIn(folder: string): [path: string, name: string][] {
  return programsIn(folder).flatMap(path => {
    const names = importsOf(read(path)).filter(isPackage).map(packageOf)
    return [...new Set(names)].map((name): [string, string] => [path, name])
  })
}

function textsIn(folder: string): string[] {
  return programsIn(folder).map(read)
}

function programsIn(folder: string): string[] {
  const names = files(folder).filter(name => /\.(?:ts|js)$/.test(name))
  return names.filter(name => !name.startsWith('node_modules/')).map(name => `${folder}/${name}`)
}

function isPackage(specifier: string): boolean {
  // Specifiers that are built at run time, or appear in the text of a program, contain other characters.
  if (!/^@?[a-z][\w./@-]*$/.test(specifier) || isBuiltin(specifier)) return false
  return packageOf(specifier) !== 'trunkline'
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Returns the version of a package that imports in the folder resolve to. */
function versionFrom(folder: string, name: string): string | undefined {
  for (let at = join(root, folder); at !== dirname(root); at = dirname(at)) {
    const manifest = join(at, 'node_modules', name, 'package.json')
    if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).version
  }
  return undefined
}

/** Returns the version without the alias that may precede it. */
function plain(spec = ''): string {
  return spec.slice(spec.lastIndexOf('@') + 1)
}

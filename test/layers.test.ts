import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serverRequestMethods } from '../src/mcp/methods.ts'
import {
  files,
  folderOf,
  importsOf,
  read,
  resolve,
  sources,
  subpaths,
  withoutComments,
} from './sources.ts'

const below = ['util', 'jsonrpc', 'wire', 'mcp', 'transport'] as const
const all = [
  ...below,
  'backplane',
  'cluster',
  'server',
  'client',
  'http',
  'auth',
  'observe',
  'router',
] as const

/** The folders, or single files, that each folder may import besides itself. */
const layers: Readonly<Record<string, readonly string[]>> = {
  util: [],
  jsonrpc: ['util'],
  wire: ['util'],
  backplane: ['util'],
  cluster: [
    'backplane',
    'observe',
    'transport',
    'wire',
    'http',
    'server',
    'auth',
    'mcp',
    'jsonrpc',
    'util',
  ],
  mcp: ['jsonrpc', 'util'],
  transport: ['jsonrpc', 'wire', 'util'],
  server: ['mcp', 'jsonrpc', 'util'],
  client: ['mcp', 'jsonrpc', 'util'],
  http: ['mcp', 'jsonrpc', 'wire', 'util'],
  auth: ['mcp', 'jsonrpc', 'wire', 'util'],
  observe: ['mcp', 'jsonrpc', 'util'],
  router: [
    'server',
    'client',
    'transport',
    'observe',
    'mcp',
    'jsonrpc',
    'util',
    'dial.ts',
    'address.ts',
    'transports.ts',
  ],
  console: ['router', 'observe', 'http', 'client', 'server', 'transport', 'mcp', 'jsonrpc', 'util'],
  root: all,
  // The console is loaded by commands alone: no other part of the package depends on it.
  cli: [...all, 'console', 'root', 'testing'],
  testing: all,
}

/** The files that may import modules of Node. All others run on any JavaScript runtime. */
const mayUseNode = [
  /^transport\//,
  /^http\/node\//,
  /^http\/client\/transport\/node-connection\.ts$/,
  /^(auth|backplane|testing)\/(?:[\w-]+\/)*node-/,
  /^util\/files\//,
  /^(observe|console|cli)\//,
]

const modules = sources()

describe('the layers', () => {
  test('every folder has a row, and every row a folder', () => {
    const folders = new Set(modules.map(module => folderOf(module.path)))
    expect([...folders].sort()).toEqual(Object.keys(layers).sort())
  })

  test('a folder imports only from lower layers', () => {
    const wrong = edges().filter(([from, to]) => !isAllowed(from, to))
    expect(wrong.map(edge => edge.join(' imports '))).toEqual([])
  })

  test('there are no import cycles', () => {
    expect(cycle()).toEqual([])
  })

  test('the table in docs/architecture.md is this one', () => {
    const rows = read('docs/architecture.md').matchAll(/^\| `(\w+)` \| (.*?) \|/gm)
    const documented = new Map(Array.from(rows, ([, folder, names]) => [folder, words(names)]))
    for (const folder of new Set(modules.map(module => folderOf(module.path)))) {
      const allowed = [...(layers[folder] ?? [])].sort()
      expect([folder, documented.get(folder)?.sort()]).toEqual([folder, allowed])
    }
  })
})

describe('imports from outside', () => {
  test('modules of Node are imported only in the allowed files', () => {
    const users = modules.filter(module => module.imports.some(name => name.startsWith('node:')))
    const wrong = users.filter(({ path }) => !mayUseNode.some(place => place.test(path)))
    expect(wrong.map(module => module.path)).toEqual([])
  })

  test('a package is imported in exactly one file, and is declared', () => {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(read('package.json'))
    const users = new Map<string, string[]>()
    for (const { path, imports } of modules) {
      for (const name of new Set(imports.filter(isPackage).map(packageOf))) {
        users.set(name, [...(users.get(name) ?? []), path])
      }
    }
    const declared = Object.keys({ ...dependencies, ...peerDependencies })
    expect([...users.keys()].sort()).toEqual(declared.sort())
    expect([...users].filter(([, paths]) => paths.length > 1)).toEqual([])
  })
})

describe('the protocol', () => {
  test('eras are data: code asks for a feature of the revision', () => {
    const elsewhere = modules.filter(({ path }) => !/^(mcp|cli\/check)\//.test(path))
    const wrong = elsewhere.filter(({ text }) => comparesEra(withoutComments(text)))
    expect(wrong.map(module => module.path)).toEqual([])
  })

  test.each([
    ["if (caller.revision.era === 'session') return", true],
    ["if ('stateless' !== revision?.era) return", true],
    ['among.filter(one => one.era === era)', true],
    ["const isSession = era === 'session'", true],
    ['switch (revision.era) {', true],
    ["const caller = { revision: revision.name, era: 'session' }", false],
    ["const stateless = revisionsOf('stateless', served)", false],
    ["if (features.identity === 'session') return", false],
  ])('%s: %s', (code, expected) => {
    expect(comparesEra(code)).toBe(expected)
  })

  test('a server request is named only where it is implemented', () => {
    const method = new RegExp(serverRequestMethods.map(name => `['"\`]${name}\\b(?!_)`).join('|'))
    const naming = modules.filter(({ text }) => method.test(withoutComments(text)))
    const paths = naming.map(module => module.path).filter(path => !/^(mcp|cli)\//.test(path))
    expect(paths).toEqual([
      'client/server-requests/handlers.ts',
      'server/context.ts',
      // A call without a client answers them itself.
      'server/core/local-call.ts',
      'server/input/input-requests.ts',
      // Pages to visit: URL elicitations that a handler requires by an error, and their ids.
      'server/input/input-required.ts',
      'server/tasks/server-request.ts',
    ])
  })
})

describe('the files', () => {
  test('revision dates stay with the revisions', () => {
    const date = /['"`][^'"`\n]*20\d\d-\d\d-\d\d/
    const dated = modules.filter(({ text }) => date.test(withoutComments(text)))
    expect(
      dated.map(module => module.path).filter(path => !path.startsWith('mcp/revisions')),
    ).toEqual([])
  })

  test('no file is too long', () => {
    const long = (path: string, max: number) => read(path).split('\n').length - 1 > max
    expect(modules.filter(({ path }) => long(`src/${path}`, 400))).toEqual([])
    const tests = ['src', 'test'].flatMap(folder => files(folder).map(name => `${folder}/${name}`))
    expect(tests.filter(path => path.endsWith('.test.ts') && long(path, 800))).toEqual([])
  })

  test('each file is named after its contents', () => {
    const vague = new Set(['utils.ts', 'helpers.ts', 'common.ts', 'types.ts'])
    expect(modules.filter(({ path }) => vague.has(basename(path)))).toEqual([])
  })

  test('index.ts is the list of a subpath, and nothing else', () => {
    const lists = subpaths().map(subpath => subpath.list)
    const indexes = modules.map(({ path }) => path).filter(path => basename(path) === 'index.ts')
    expect(indexes.filter(path => !lists.includes(path))).toEqual([])
  })
})

describe('finding imports', () => {
  const cases = [
    ['a name', "import { a } from './a.ts'"],
    ['a type', "import type { A } from './a.ts'"],
    ['names over several lines', "import {\n  a,\n  type B,\n} from './a.ts'"],
    ['a default', "import a from './a.ts'"],
    ['a default and names', "import a, { b } from './a.ts'"],
    ['everything', "import * as a from './a.ts'"],
    ['an effect', "import './a.ts'"],
    ['an export', "export { a } from './a.ts'"],
    ['an exported type', "export type { A } from './a.ts'"],
    ['a late import', "const { a } = await import('./a.ts')"],
    ['a type in place', "type A = import('./a.ts').A"],
  ] as const

  test.each(cases)('%s', (_, text) => {
    expect(importsOf(text)).toEqual(['./a.ts'])
  })

  test('words in strings and comments are not imports', () => {
    const text = "// import './a.ts'\n/* import './a.ts' */\nconst s = `read from './a.ts'`\n"
    expect(importsOf(text)).toEqual([])
  })
})

/** Returns whether code compares an era with a string or with another era. */
function comparesEra(code: string): boolean {
  return /\bera\b\)?\s*[!=]==|[!=]==\s*(?:[\w$]+\??\.)*era\b|switch \([^)\n]*\bera\b/.test(code)
}

/** Returns every import between two source files. */
function edges(): [from: string, to: string][] {
  return modules.flatMap(({ path, imports }) =>
    imports
      .filter(name => name.startsWith('.'))
      .map((name): [string, string] => [path, resolve(path, name)]),
  )
}

function isAllowed(from: string, to: string): boolean {
  const [source, target] = [folderOf(from), folderOf(to)]
  const allowed = layers[source] ?? []
  return source === target || allowed.includes(target) || allowed.includes(to)
}

/** Returns the files of one import cycle in order; an empty array if there is none. */
function cycle(): string[] {
  const next = new Map<string, string[]>()
  for (const [from, to] of edges()) next.set(from, [...(next.get(from) ?? []), to])
  const finished = new Set<string>()
  const walk = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (finished.has(path)) return []
    for (const target of next.get(path) ?? []) {
      const found = walk(target, [...trail, path])
      if (found.length > 0) return found
    }
    finished.add(path)
    return []
  }
  for (const { path } of modules) {
    const found = walk(path, [])
    if (found.length > 0) return found
  }
  return []
}

function words(cell: string | undefined): string[] {
  return Array.from((cell ?? '').matchAll(/`([^`]+)`/g), match => match[1] ?? '')
}

function isPackage(specifier: string): boolean {
  return !specifier.startsWith('.') && !specifier.startsWith('node:')
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

test('no two files export different things under one name', () => {
  // `run` is the entry point of every command.
  const shared = new Set(['run'])
  const owners = new Map<string, string[]>()
  for (const { path, text } of sources()) {
    for (const [, name = ''] of text.matchAll(declaration)) {
      owners.set(name, [...(owners.get(name) ?? []), path])
    }
  }
  const twice = [...owners].filter(([name, paths]) => new Set(paths).size > 1 && !shared.has(name))
  expect(twice.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([])
})

const declaration = /^export (?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

export interface Source {
  /** Below `src`, with forward slashes: `jsonrpc/peer.ts`. */
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

/** Returns the first folder of a path below `src`; files at the top level belong to the folder `root`. */
export function folderOf(path: string): string {
  const slash = path.indexOf('/')
  return slash === -1 ? 'root' : path.slice(0, slash)
}

/** Returns every source file of the package, without tests. */
export function sources(): Source[] {
  return files('src')
    .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map(path => {
      const text = read(`src/${path}`)
      return { path, text, imports: importsOf(text) }
    })
}

export interface Subpath {
  /** The specifier that a user imports: `trunkline/jsonrpc`. */
  readonly specifier: string
  /** The path below `src` of its hand-written list of exports. */
  readonly list: string
}

/** Returns the modules that package.json exports. */
export function subpaths(): Subpath[] {
  const manifest = JSON.parse(read('package.json')) as Manifest
  return Object.entries(manifest.exports).flatMap(([subpath, entry]) => {
    if (typeof entry === 'string') return []
    const list = entry.default.replace('./dist/', '').replace(/\.js$/, '.ts')
    return [{ specifier: manifest.name + subpath.slice(1), list }]
  })
}

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/** Returns the files below a folder of the repository, as paths relative to that folder. */
export function files(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(join(root, folder).length + 1))
    .map(path => path.split(sep).join('/'))
    .sort()
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Returns the specifiers a module imports, types included: `import`, `export … from` and `import()`. */
export function importsOf(text: string): string[] {
  const names = '(?:type\\s+)?(?:[\\w$]+\\s*,?\\s*)?(?:\\{[^}]*\\}|\\*(?:\\s+as\\s+[\\w$]+)?)?\\s*'
  const statement = new RegExp(`^(?:import|export)\\s+(?:${names}from\\s*)?['"]([^'"]+)['"]`, 'gm')
  const expression = /\bimport\(\s*['"]([^'"]+)['"]/g
  const code = withoutComments(text)
  return [...code.matchAll(statement), ...code.matchAll(expression)].map(match => match[1] ?? '')
}

/** Returns the text without comments that begin a line; short trailing comments stay. */
export function withoutComments(text: string): string {
  return text.replace(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm, '')
}

/** Returns the path below `src` that a relative import in `from` resolves to. */
export function resolve(from: string, specifier: string): string {
  return posix.join(dirname(from), specifier)
}

import { posix } from 'node:path'
import { read, subpaths } from './sources.ts'

/** A type that the package exports, or that such a type extends. */
export interface PublicType {
  readonly name: string
  /** Where it is declared, below `src`: `server/options.ts`. */
  readonly path: string
  readonly members: readonly PublicMember[]
}

/** A member of a public type, and whether a doc comment is directly before it. */
export interface PublicMember {
  readonly name: string
  readonly isDocumented: boolean
}

/** One file of declarations, as the compiler writes them: without bodies, and in one format. */
interface Module {
  /** The lines of each interface, class and type alias. */
  readonly types: ReadonlyMap<string, readonly string[]>
  /** Where the names that it imports or exports again are declared. */
  readonly names: ReadonlyMap<string, Origin>
  /** The names that it exports from elsewhere. */
  readonly exports: readonly string[]
}

interface Origin {
  readonly path: string
  readonly name: string
}

/** Returns the types that the entry points of the built package export, and those that these extend. */
export function publicTypes(): PublicType[] {
  const modules = new Map<string, Module>()
  const found = new Map<string, PublicType>()

  function moduleAt(path: string): Module {
    const known = modules.get(path) ?? readModule(path)
    modules.set(path, known)
    return known
  }

  function visit(path: string, name: string): void {
    const { types, names } = moduleAt(path)
    const lines = types.get(name)
    const origin = names.get(name)
    if (lines === undefined) {
      if (origin !== undefined) visit(origin.path, origin.name)
      return
    }
    const key = `${path} ${name}`
    if (found.has(key)) return
    found.set(key, { name, path, members: membersOf(lines) })
    const [, bases = ''] = / (?:extends|implements) (.*) \{/.exec(lines[0] ?? '') ?? []
    for (const [word] of bases.matchAll(/\w+/g)) visit(path, word)
  }

  for (const { list } of subpaths()) {
    const { types, exports } = moduleAt(list)
    for (const name of [...types.keys(), ...exports]) visit(list, name)
  }
  return [...found.values()]
}

function readModule(path: string): Module {
  const text = read(`dist/${path.replace(/\.ts$/, '.d.ts')}`)
  const names = new Map<string, Origin>()
  const exports: string[] = []
  const lists = /^(import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm
  for (const [, kind, list = '', from = ''] of text.matchAll(lists)) {
    for (const entry of list.split(',')) {
      const [name = '', alias = name] = entry
        .trim()
        .replace(/^type /, '')
        .split(' as ')
      names.set(alias, { path: posix.join(posix.dirname(path), from), name })
      if (kind === 'export') exports.push(alias)
    }
  }
  return { types: typesIn(text.split('\n')), names, exports }
}

function typesIn(lines: readonly string[]): Map<string, readonly string[]> {
  const types = new Map<string, readonly string[]>()
  const start = /^(?:export )?(?:declare )?(?:interface|class|type) (\w+)/
  for (const [at, line] of lines.entries()) {
    const [, name] = start.exec(line) ?? []
    if (name === undefined) continue
    const rest = lines.slice(at + 1)
    const end = rest.findIndex(one => /^(?:export|declare|import|interface|type|\/\*\*)/.test(one))
    types.set(name, [line, ...rest.slice(0, end === -1 ? rest.length : end)])
  }
  return types
}

const member = /^( +)(?:(?:readonly|static|get) )*('[^']+'|\w+)\??[:(<](.*)$/

/**
 * Returns the members of a type, and those of objects in it. A member with one possible value, such as
 * `type: 'request'`, only tells types apart. Objects that are parameters belong to their function.
 */
function membersOf(lines: readonly string[]): PublicMember[] {
  return lines.flatMap((line, at) => {
    const [, indent = '', name, rest = ''] = member.exec(line) ?? []
    if (name === undefined || name === 'constructor') return []
    if (/^ (?:'[^']*'|\d+|undefined|infer \w+);$/.test(rest)) return []
    const isInParent = (one: string): boolean =>
      one.search(/\S/) < indent.length && one.trim() !== ''
    const parent = lines.slice(0, at).findLast(isInParent) ?? ''
    if (at > 0 && indent.length > 4 && parent.includes('(')) return []
    return [{ name, isDocumented: lines[at - 1]?.trimEnd().endsWith('*/') ?? false }]
  })
}

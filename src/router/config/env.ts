import { hideValue } from '../../util/text/hidden-values.ts'

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A string with its references expanded. */
export interface Expanded {
  /** The expanded string; unresolved references are left as written. */
  readonly value: string
  /** For a string with references: its displayable form, with the references instead of their values. */
  readonly shown?: string
  /** Problems with the references, one sentence each. Never contains the value of a variable. */
  readonly problems: readonly string[]
  /** Whether unset variables are the only problems. */
  readonly onlyMissing: boolean
}

/** What references that are not to environment variables stand for: the places and files that editors define. */
export interface Places {
  /** The folder that `${workspaceFolder}` stands for. */
  readonly workspace: string
  /** The home folder of the user, `${userHome}`. */
  readonly home: string
  /** The separator of paths on this system, `${/}` and `${pathSeparator}`. */
  readonly separator: string
  /** Returns the text of a file, for `${file:…}` and `envFile`. Throws an Error whose message is the reason. */
  readText(path: string): string
}

/** Where the values of references come from. */
export interface References {
  readonly env: Environment
  readonly places?: Places
  /** Answers of the user to inputs, by id. */
  readonly inputs?: ReadonlyMap<string, string>
  /** Called with the id of an input that has no value. */
  readonly onMissingInput?: (id: string) => void
}

/**
 * Expands `${NAME}`, `${env:NAME}` and `${NAME:-default}` to environment variables; `$${` is an escaped
 * `${`. With places, `${workspaceFolder}`, `${userHome}`, `${/}`, `${file:PATH}` and the like are expanded
 * too. `${input:ID}` is the answer of the user, or the variable `INPUT_ID`.
 *
 * A name consists of letters, digits and `_`. Expansion is not recursive: references in the value of a
 * variable are left as they are. The default applies to a variable that is unset or empty; it ends at the
 * first `}` and cannot contain references.
 *
 * The values of the variables are hidden from now on: messages and logs of this process show `${NAME}`.
 */
export function expand(text: string, sources: References): Expanded {
  if (!text.includes('${')) return { value: text, problems: [], onlyMissing: true }
  const problems: string[] = []
  let onlyMissing = true
  let references = 0
  let value = ''
  let shown = ''
  let from = 0
  for (const match of text.matchAll(reference)) {
    const [whole, inside] = match
    value += text.slice(from, match.index)
    shown += text.slice(from, match.index)
    from = match.index + whole.length
    if (whole === '$${') {
      value += '${'
      shown += whole
      continue
    }
    references++
    const found = resolve(inside, sources)
    value += found.value ?? whole
    shown += found.shown ?? whole
    if (found.problem === undefined) continue
    problems.push(found.problem)
    onlyMissing &&= found.isMissing === true
  }
  value += text.slice(from)
  shown += text.slice(from)
  return { value, ...(references > 0 && { shown }), problems, onlyMissing }
}

/** Matches the escape first, then a reference, then an unterminated reference. */
const reference = /\$\$\{|\$\{(?:([^}]*)\})?/g

const form = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

interface Resolved {
  readonly value?: string
  readonly shown?: string
  readonly problem?: string
  readonly isMissing?: boolean
}

function resolve(inside: string | undefined, references: References): Resolved {
  if (inside === undefined) return { problem: `"\${" has no closing "}"; ${forms}` }
  if (inside.startsWith('input:')) return resolveInput(inside.slice(6), references)
  const { env, places } = references
  if (inside.startsWith('file:') && places !== undefined) {
    return resolveFile(inside.slice(5), places)
  }
  const place = places && env[inside] === undefined ? placeNamed(inside, places) : undefined
  if (place !== undefined) return { value: place, shown: `\${${inside}}` }
  const [, name = '', fallback] = form.exec(inside) ?? []
  if (name === '' || fallback?.includes('${')) {
    return { problem: `"\${${named(inside)}}" is not a valid reference; ${forms}` }
  }
  // Checked by type, because members that process.env inherits from Object are not variables.
  const found: unknown = env[name]
  const isSet = typeof found === 'string'
  if (isSet) hideValue(found, `\${${name}}`)
  if (fallback !== undefined) {
    const value = isSet && found !== '' ? found : fallback
    return { value, shown: fallback === '' ? `\${${name}:-}` : `\${${name}:-…}` }
  }
  if (isSet) return { value: found, shown: `\${${name}}` }
  return { problem: missing(name), isMissing: true }
}

/** Returns the environment variable that answers an input: `INPUT_API_KEY` for `api-key`. */
export function inputVariable(id: string): string {
  return `INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
}

function resolveInput(id: string, { env, inputs, onMissingInput }: References): Resolved {
  const variable = inputVariable(id)
  const found: unknown = env[variable] ?? inputs?.get(id)
  if (typeof found === 'string') return { value: found, shown: `\${input:${id}}` }
  onMissingInput?.(id)
  const problem = `input "${named(id)}" has no value; set the environment variable ${named(variable)}, or answer on a terminal`
  return { problem, isMissing: true }
}

function resolveFile(path: string, places: Places): Resolved {
  try {
    const home = path.startsWith('~/') ? places.home + path.slice(1) : path
    return { value: places.readText(home).trimEnd(), shown: `\${file:${path}}` }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason'
    return { problem: `"\${file:${named(path)}}" cannot be read: ${reason}`, isMissing: true }
  }
}

function placeNamed(name: string, { workspace, home, separator }: Places): string | undefined {
  switch (name) {
    case 'workspaceFolder':
    case 'workspaceRoot':
    case 'cwd':
      return workspace
    case 'workspaceFolderBasename':
      return workspace.split(/[\\/]/).findLast(part => part !== '') ?? ''
    case 'userHome':
      return home
    case '/':
    case 'pathSeparator':
      return separator
    default:
      return undefined
  }
}

const forms = `use \${NAME}, \${env:NAME} or \${NAME:-default} for an environment variable, and $\${ for a literal \${`

/** Shortens a reference and omits its default, which may be a secret. */
function named(inside: string): string {
  const at = inside.indexOf(':-')
  const name = at === -1 ? inside : `${inside.slice(0, at)}:-…`
  return name.length > 40 ? `${name.slice(0, 40)}…` : name
}

function missing(name: string): string {
  if (editorNames.has(name)) {
    return `\${${name}} is defined by editors only; use the path, or set a variable of that name`
  }
  return `environment variable ${name} is not set; set it, or use \${${name}:-default}`
}

const editorNames: ReadonlySet<string> = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'userHome',
  'pathSeparator',
])

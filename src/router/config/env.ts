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

/**
 * Expands `${NAME}`, `${env:NAME}` and `${NAME:-default}` to environment variables; `$${` is an escaped
 * `${`.
 *
 * A name consists of letters, digits and `_`. Expansion is not recursive: references in the value of a
 * variable are left as they are. The default applies to a variable that is unset or empty; it ends at the
 * first `}` and cannot contain references.
 */
export function expand(text: string, env: Environment): Expanded {
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
    const found = resolve(inside, env)
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

function resolve(inside: string | undefined, env: Environment): Resolved {
  if (inside === undefined) return { problem: `"\${" has no closing "}"; ${forms}` }
  if (inside.startsWith('input:')) {
    return {
      problem: `"\${${inside}}" is a VS Code input, which is not supported; use an environment variable: \${NAME}`,
    }
  }
  const [, name = '', fallback] = form.exec(inside) ?? []
  if (name === '' || fallback?.includes('${')) {
    return { problem: `"\${${named(inside)}}" is not a valid reference; ${forms}` }
  }
  // Checked by type, because members that process.env inherits from Object are no variables.
  const found: unknown = env[name]
  const isSet = typeof found === 'string'
  if (fallback !== undefined) {
    const value = isSet && found !== '' ? found : fallback
    return { value, shown: fallback === '' ? `\${${name}:-}` : `\${${name}:-…}` }
  }
  if (isSet) return { value: found, shown: `\${${name}}` }
  return { problem: missing(name), isMissing: true }
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

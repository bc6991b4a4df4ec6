/** Environment variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A text with its references replaced. */
export interface Expanded {
  /** The text to use; references that could not be followed stand in it as they were written. */
  readonly value: string
  /** For a text with references: how it may be shown, with the references and without their values. */
  readonly shown?: string
  /** What is wrong with the references, one sentence each. Never holds a value. */
  readonly problems: readonly string[]
  /** Whether all that is wrong is that variables are not set. */
  readonly onlyMissing: boolean
}

/**
 * Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}` by environment variables; `$${` stands for
 * a plain `${`.
 *
 * A name is exact: letters, digits and `_`, no patterns. What a variable holds is text and nothing
 * more: references in it are not followed. The default is used for a variable that is not set or is
 * empty; it ends at the first `}` and holds no references of its own.
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
    const found = follow(inside, env)
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

/** The escape first; then a reference, or what begins like one and never ends. */
const reference = /\$\$\{|\$\{(?:([^}]*)\})?/g

const form = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

interface Followed {
  readonly value?: string
  readonly shown?: string
  readonly problem?: string
  readonly isMissing?: boolean
}

function follow(inside: string | undefined, env: Environment): Followed {
  if (inside === undefined) return { problem: `"\${" has no closing "}"; ${forms}` }
  if (inside.startsWith('input:')) {
    return {
      problem: `"\${${inside}}" asks VS Code for an input, which nobody is here to give; use an environment variable: \${NAME}`,
    }
  }
  const [, name = '', fallback] = form.exec(inside) ?? []
  if (name === '' || fallback?.includes('${')) {
    return { problem: `"\${${named(inside)}}" is no reference; ${forms}` }
  }
  // By type, because what process.env inherits from Object is no variable.
  const found: unknown = env[name]
  const isSet = typeof found === 'string'
  if (fallback !== undefined) {
    const value = isSet && found !== '' ? found : fallback
    return { value, shown: fallback === '' ? `\${${name}:-}` : `\${${name}:-…}` }
  }
  if (isSet) return { value: found, shown: `\${${name}}` }
  return { problem: missing(name), isMissing: true }
}

const forms = `write \${NAME}, \${env:NAME} or \${NAME:-default} for an environment variable, and $\${ for a plain \${`

/** Short, and without the default, which may be a secret that somebody wrote into the file. */
function named(inside: string): string {
  const at = inside.indexOf(':-')
  const name = at === -1 ? inside : `${inside.slice(0, at)}:-…`
  return name.length > 40 ? `${name.slice(0, 40)}…` : name
}

function missing(name: string): string {
  if (editorNames.has(name)) {
    return `\${${name}} is known to editors only; write the path, or set a variable of that name`
  }
  return `the environment variable ${name} is not set; set it, or write \${${name}:-default}`
}

const editorNames: ReadonlySet<string> = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'userHome',
  'pathSeparator',
])

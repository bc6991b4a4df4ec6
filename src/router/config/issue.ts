/**
 * A place in a text. Lines and columns count from 1, columns in UTF-16 units as editors do; 0 where
 * something is the matter with the file as a whole.
 */
export interface Position {
  readonly line: number
  readonly column: number
}

/** The way to a value in a file: names of members and numbers of entries. */
export type ConfigPath = readonly (string | number)[]

/** Something in a configuration file that is wrong, or that does not do what its author may think. */
export interface ConfigIssue extends Position {
  /** A file with an error is not used; a warning is only told. */
  readonly severity: 'error' | 'warning'
  /** Where in the values: `mcpServers.files.limits.perSecond`. Empty for the whole file. */
  readonly path: string
  /** What is wrong and what to do about it. Never holds the value of an environment variable. */
  readonly message: string
  /** The line with a caret below the place, where the text itself cannot be read. */
  readonly excerpt?: string
}

/**
 * A configuration that cannot be used. `issues` has everything that is wrong with it, in the order of
 * the file, warnings included; the message lists the errors, each with file, line and column.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly issues: readonly ConfigIssue[]
  readonly file: string | undefined

  constructor(issues: readonly ConfigIssue[], file?: string, options?: ErrorOptions) {
    const errors = issues.filter(issue => issue.severity === 'error')
    super(errors.map(issue => describeIssue(issue, file)).join('\n'), options)
    this.issues = issues
    this.file = file
  }
}

/** An issue as a line that terminals and editors can follow to its place: `file:line:column: words`. */
export function describeIssue(issue: ConfigIssue, file = 'configuration'): string {
  const kind = issue.severity === 'warning' ? 'warning: ' : ''
  const place = issue.line === 0 ? file : `${file}:${issue.line}:${issue.column}`
  const text = `${place}: ${kind}${issue.message}`
  return issue.excerpt === undefined ? text : `${text}\n${issue.excerpt}`
}

/** A path as people write it: `servers.files.args[1]`, and `servers["my files"]` where a dot will not do. */
export function pathText(path: ConfigPath): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (!/^[\w$-]+$/.test(step)) text += `[${JSON.stringify(step)}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}

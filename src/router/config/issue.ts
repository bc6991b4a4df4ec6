/**
 * A position in a file. Lines and columns start at 1, and columns count UTF-16 units as editors do; both
 * are 0 for an issue of the file as a whole.
 */
export interface Position {
  /** The line, starting at 1; 0 for the file as a whole. */
  readonly line: number
  /** The column, starting at 1, in UTF-16 units; 0 for the file as a whole. */
  readonly column: number
}

/** The path to a value in a file: member names and array indexes. */
export type ConfigPath = readonly (string | number)[]

/** An error in a configuration file, a warning about a key without effect, or a note about a translation. */
export interface ConfigIssue extends Position {
  /** An error rejects the file, or its server; a warning is reported; a note is shown on request. */
  readonly severity: 'error' | 'warning' | 'note'
  /** The path of the value: `mcpServers.files.limits.perSecond`. Empty for the whole file. */
  readonly path: string
  /** What is wrong and how to fix it. Never contains the value of an environment variable. */
  readonly message: string
  /** For syntax errors: the line, with a caret below the position. */
  readonly excerpt?: string
}

/**
 * Thrown for an invalid configuration. `issues` holds all errors and warnings in file order; the message
 * lists the errors, each with file, line and column.
 */
export class ConfigError extends Error {
  /** Always `ConfigError`. */
  override readonly name = 'ConfigError'
  /** Everything that is wrong, in file order. */
  readonly issues: readonly ConfigIssue[]
  /** The name of the file; undefined if the text came from elsewhere. */
  readonly file: string | undefined

  constructor(issues: readonly ConfigIssue[], file?: string, options?: ErrorOptions) {
    const errors = issues.filter(issue => issue.severity === 'error')
    super(errors.map(issue => describeIssue(issue, file)).join('\n'), options)
    this.issues = issues
    this.file = file
  }
}

/** Formats an issue as `file:line:column: message`, which terminals and editors turn into a link. */
export function describeIssue(issue: ConfigIssue, file = 'configuration'): string {
  const kind = issue.severity === 'error' ? '' : `${issue.severity}: `
  const place = issue.line === 0 ? file : `${file}:${issue.line}:${issue.column}`
  const text = `${place}: ${kind}${issue.message}`
  return issue.excerpt === undefined ? text : `${text}\n${issue.excerpt}`
}

/** Formats a path: `servers.files.args[1]`, or `servers["my files"]` for keys that need quotes. */
export function pathText(path: ConfigPath): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (!/^[\w$-]+$/.test(step)) text += `[${JSON.stringify(step)}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}

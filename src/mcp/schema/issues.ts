/** One problem of a value, and its path: keys and indexes from the root. */
export interface Issue {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** The result of validation: the value, possibly transformed by its schema, or its issues. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** The maximum of listed issues, because a hostile value can have thousands. */
const maxIssues = 8
/** The maximum length of listed keys and values, because peers choose them. */
const maxKeyLength = 64

/**
 * Formats all issues as one sentence: `"city: expected string; days: must be >= 1"`. For the text of a
 * tool result, and for an error message that is sent to the peer.
 */
export function issueText(issues: readonly Issue[]): string {
  const shown = issues.slice(0, maxIssues).map(({ path, message }) => {
    const where = pathText(path)
    // Some libraries start their messages with the path.
    return where === '' || message.startsWith(`${where} `) ? message : `${where}: ${message}`
  })
  const rest = issues.length - shown.length
  const unique = [...new Set(shown)]
  if (rest > 0) unique.push(`and ${rest} more`)
  return unique.length === 0 ? 'not valid' : unique.join('; ')
}

/** Formats a path as in JavaScript: `user.tags[0]["first name"]`. */
function pathText(path: Issue['path']): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`
      const name = truncate(key)
      if (!/^[\w$-]+$/.test(name)) return `[${JSON.stringify(name)}]`
      return index === 0 ? name : `.${name}`
    })
    .join('')
}

/** Truncates a string from a peer to a length that can be shown. */
export function truncate(text: string): string {
  return text.length <= maxKeyLength ? text : `${text.slice(0, maxKeyLength)}…`
}

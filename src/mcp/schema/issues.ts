/** One thing that is wrong with a value, and where: the keys and indexes that lead there. */
export interface Issue {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** A value that fits its schema, perhaps changed by it, or what is wrong with it. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** As many issues as help, of those that a hostile value can have thousands of. */
const maxIssues = 8
/** Keys of values are chosen by others. */
const maxKeyLength = 64

/**
 * All issues in one readable sentence: `"city: expected string; days: must be >= 1"`. For the text of a
 * tool result, and for the message of an error that crosses the wire.
 */
export function issueText(issues: readonly Issue[]): string {
  const shown = issues.slice(0, maxIssues).map(({ path, message }) => {
    const where = pathText(path)
    // Some libraries begin their messages with the path.
    return where === '' || message.startsWith(`${where} `) ? message : `${where}: ${message}`
  })
  const rest = issues.length - shown.length
  const unique = [...new Set(shown)]
  if (rest > 0) unique.push(`and ${rest} more`)
  return unique.length === 0 ? 'not valid' : unique.join('; ')
}

/** A path as one would write it in a program: `user.tags[0]["first name"]`. */
function pathText(path: Issue['path']): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`
      const name = shortened(key)
      if (!/^[\w$-]+$/.test(name)) return `[${JSON.stringify(name)}]`
      return index === 0 ? name : `.${name}`
    })
    .join('')
}

/** A text of somebody else's, at a length that can be shown. */
export function shortened(text: string): string {
  return text.length <= maxKeyLength ? text : `${text.slice(0, maxKeyLength)}…`
}

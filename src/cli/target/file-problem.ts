/** Returns why a file cannot be read or written, as the rest of a sentence without its path. */
export function fileProblem(error: unknown): string {
  const code = errorCode(error)
  return problems.get(code) ?? (code || 'unknown reason')
}

/** Returns the code of an error of the system, such as `ENOENT`; empty if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

const problems: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file'],
  ['ENOTDIR', 'no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
])

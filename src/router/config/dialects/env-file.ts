/**
 * Parses a file of environment variables: `NAME=value` lines, with comments, `export` and quotes. In double quotes
 * `\n` is a line break. Lines that are not assignments are ignored, as hosts do.
 */
export function parseEnvFile(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>()
  for (const [, name = '', value = ''] of text.matchAll(assignment)) {
    variables.set(name, unquoted(value.trim()))
  }
  return variables
}

/** A quoted value may span lines. */
const assignment =
  /^[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_][\w.]*)[^\S\n]*=[^\S\n]*("(?:\\.|[^"\\])*"|'[^']*'|[^\n]*)/gm

function unquoted(written: string): string {
  const quote = written[0]
  if (quote === "'" && written.endsWith("'") && written.length > 1) return written.slice(1, -1)
  if (quote === '"' && written.endsWith('"') && written.length > 1) {
    return written.slice(1, -1).replace(/\\(.)/gs, (_, sign: string) => escapes.get(sign) ?? sign)
  }
  return written.replace(/(?:^|\s)#.*$/, '').trim()
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/**
 * Returns the line of an error output that best explains why a program failed; undefined if there is none.
 *
 * Programs end with the tail of a stack trace, with advice or with the notices of a package manager, so
 * neither the first nor the last line will do. The last line that starts with the name of an error wins;
 * then the first that speaks of a failure; then the last that is not noise. Escape sequences are removed.
 */
export function tellingLine(output: string): string | undefined {
  const lines = output
    .replace(escapeSequences, '')
    .split(/[\r\n]+/)
    .filter(line => line.trim() !== '' && !noise.some(pattern => pattern.test(line)))
  const best =
    lines.findLast(line => headline.test(line)) ??
    lines.find(line => failure.test(line)) ??
    lines.find(line => /^\s*usage\b/i.test(line)) ??
    lines.at(-1)
  return best?.trim().replace(/^npm (?:error|ERR!) (?:\d{3} )?/, '')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with a control character
const escapeSequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g

/** `TypeError: …`, `Uncaught Error [ERR_X]: …`, `java.io.IOException: …`; not indented, as inside of a stack. */
const headline =
  /^(?:Uncaught |Exception in thread "[^"]*" )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?:\s*\S/

/** Words of a line that reports a failure. */
const failure =
  /\b(?:errors?|fatal|panic(?:ked)?|fail(?:ed|ure)?|exception|missing|required?|not (?:set|found|defined|installed|supported)|no such|cannot|can't|could not|unable|invalid|denied|refused|must)\b/i

/** Lines that say nothing about the reason: stacks, excerpts of source, and notices of package managers. */
const noise: readonly RegExp[] = [
  /^\s*at\s.*(?::\d+:\d+|\(.*\)|<anonymous>)/,
  /^\s*(?:node:|file:\/\/|\/|[A-Za-z]:\\).*:\d+$/,
  /^\s*throw\b/,
  /^\s*[\^~]+\s*$/,
  /^[\s{}[\]()'",;]*$/,
  /^Node\.js v\d/,
  /^\(node:\d+\)|^\(Use `node --/,
  /^Traceback \(most recent call last\)|^\s+File ".*", line \d+/,
  /^npm (?:warn|notice|WARN)\b/,
  /^npm (?:error|ERR!)(?:\s*$| (?:code|errno|syscall|path|dest|signal|command|cwd|workspace)\b| A complete log of this run| \/.*-debug-\d)/,
  /^(?:Need to install the following packages|Ok to proceed\?)/,
  /^(?:Downloaded|Downloading|Installed|Resolved|Prepared|Building|Built) /,
]

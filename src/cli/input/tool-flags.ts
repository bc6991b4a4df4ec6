import type { OptionRow } from '../manual/rows.ts'

/** The arguments of a command line, with the flags of a tool turned into operands. */
export interface SplitFlags {
  readonly argv: readonly string[]
  /** The names that were given as flags. */
  readonly flags: ReadonlySet<string>
}

/**
 * Turns `--name value`, `--name=value` and `--name` after the name of a tool into the operands `name=value` and
 * `name=true`. Options of the command itself stay what they are. `before` is the number of operands up to the name
 * of the tool.
 */
export function splitFlags(
  argv: readonly string[],
  rows: readonly OptionRow[],
  before: number,
): SplitFlags {
  const own: string[] = []
  const flags = new Set<string>()
  let operands = 0
  for (let at = 0; at < argv.length; at++) {
    const arg = argv[at] ?? ''
    const next = argv[at + 1]
    const row = rows.find(one => isOption(arg, one))
    if (row !== undefined) {
      own.push(arg)
      const takesNext = row.value !== undefined && !arg.includes('=') && next !== undefined
      if (takesNext) own.push(argv[++at] ?? '')
      continue
    }
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    if (name === '' || operands < before) {
      own.push(arg)
      if (!arg.startsWith('-') || arg === '-') operands++
      continue
    }
    flags.add(name)
    if (value !== undefined) own.push(`${name}=${value}`)
    else if (next !== undefined && isValue(next)) {
      own.push(`${name}=${next}`)
      at++
    } else own.push(`${name}=true`)
  }
  return { argv: own, flags }
}

function isOption(arg: string, { name, short }: OptionRow): boolean {
  return arg === `--${name}` || arg.startsWith(`--${name}=`) || arg === `-${short}`
}

/** Whether the argument after a flag is its value, and neither an option nor an argument of its own. */
function isValue(text: string): boolean {
  if (text.startsWith('-')) return /^-[\d.]/.test(text)
  return !/^[\w-]+:?=/.test(text)
}

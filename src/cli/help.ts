import { type ExitName, exitCodes, exitMeanings } from './exit.ts'
import { type CommandRow, commands, generalOptions, type OptionRow } from './manual.ts'

/** The first page of the manual: every command in a line. */
export function overview(): string {
  const rows = commands.map(
    ({ name, operands, summary }) => [`${name} ${operands}`, summary] as const,
  )
  const codes = Object.keys(exitCodes) as ExitName[]
  return [
    'Usage: trunkline COMMAND [OPTION…]',
    '',
    'Commands:',
    ...columns(rows),
    '',
    'TARGET is an address (http://…, https://…, ws://…, tcp://host:port, unix:path, pipe:name), a program',
    'behind "--" (trunkline list -- node server.js), or the name of a server in the configuration.',
    '',
    'Options of every command:',
    ...columns(generalOptions.map(optionLine)),
    ...columns([['--version', 'Show the version.']]),
    '',
    'Exit codes:',
    ...columns(codes.map(name => [`${exitCodes[name]}`, exitMeanings[name]] as const)),
  ].join('\n')
}

/** The page of one command. */
export function page(command: CommandRow): string {
  const { name, operands, summary, options, examples } = command
  return [
    `Usage: trunkline ${name} ${operands}`,
    '',
    summary,
    '',
    'Options:',
    ...columns([...options, ...generalOptions].map(optionLine)),
    '',
    'Examples:',
    ...examples.map(example => `  ${example}`),
  ].join('\n')
}

/** An option as it is typed. */
export function optionText({ name, short, value }: OptionRow): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`
  return short === undefined ? long : `-${short}, ${long}`
}

function optionLine(row: OptionRow): readonly [string, string] {
  const choices = row.choices === undefined ? '' : ` (${row.choices.join(', ')})`
  const often = row.many ? ' May be given several times.' : ''
  return [optionText(row), `${row.meaning.replaceAll('`', '')}${choices}${often}`]
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const widest = Math.max(...rows.map(([left]) => left.length))
  const indent = Math.min(widest, 26)
  return rows.map(([left, right]) =>
    left.length > indent
      ? `  ${left}\n  ${' '.repeat(indent)}  ${right}`
      : `  ${left.padEnd(indent)}  ${right}`,
  )
}

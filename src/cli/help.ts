import { transports } from '../transports.ts'
import { type ExitName, exitCodes, exitMeanings } from './exit.ts'
import { commands, generalOptions } from './manual/manual.ts'
import type { CommandRow, OptionRow } from './manual/rows.ts'

/** The forms of the addresses of servers. */
const targetForms = transports
  .filter(({ locator }) => locator !== 'none')
  .map(({ form }) => form)
  .join(', ')

/** Formats the overview, with one line per command. */
export function overview(): string {
  const rows = commands.map(
    ({ name, operands, summary }) => [`${name} ${operands}`, plain(summary)] as const,
  )
  const codes = Object.keys(exitCodes) as ExitName[]
  return [
    'Usage: trunkline COMMAND [OPTION…]',
    '',
    'Commands:',
    ...columns(rows),
    '',
    `TARGET is an address (${targetForms}),`,
    'a program after "--" (trunkline list -- node server.js), or the name of a configured server.',
    '',
    'General options:',
    ...columns([...generalOptions.map(optionLine), ['--version', 'Show the version.']]),
    '',
    'Exit codes:',
    ...columns(codes.map(name => [`${exitCodes[name]}`, plain(exitMeanings[name])] as const)),
  ].join('\n')
}

/** Formats the help of one command. */
export function page(command: CommandRow): string {
  const { name, operands, summary, options, examples } = command
  return [
    `Usage: trunkline ${name} ${operands}`,
    '',
    plain(summary),
    '',
    'Options:',
    ...columns([...options, ...generalOptions].map(optionLine)),
    '',
    'Examples:',
    ...examples.map(example => `  ${example}`),
  ].join('\n')
}

/** Formats an option as it is typed. */
export function optionText({ name, short, value, optional }: OptionRow): string {
  const flag = optional === undefined ? `--${name}` : `--${name}[=${optional}]`
  const long = value === undefined ? flag : `--${name} ${value}`
  return short === undefined ? long : `-${short}, ${long}`
}

function optionLine(row: OptionRow): readonly [string, string] {
  const choices = row.choices === undefined ? '' : ` (${row.choices.join(', ')})`
  const repeatable = row.many ? ' Can be repeated.' : ''
  return [optionText(row), `${plain(row.meaning)}${choices}${repeatable}`]
}

/** Removes the code marks that the documentation needs and a terminal does not. */
function plain(text: string): string {
  return text.replaceAll('`', '')
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

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../util/did-you-mean.ts'
import { UsageError } from './exit.ts'
import { type CommandRow, commands, type OptionRow, optionsOf } from './manual.ts'

/** What stands on a command line, behind the name of the command. */
export interface Input {
  readonly command: CommandRow
  /** What is no option, up to `--`. */
  readonly operands: readonly string[]
  /** What stands behind `--`; undefined where there is none. */
  readonly program: readonly string[] | undefined
  /** The value of an option; the last one where there are several. */
  value(name: string): string | undefined
  values(name: string): readonly string[]
  /** Whether a switch is on. */
  has(name: string): boolean
}

/**
 * Takes the arguments of a command apart. Options may stand anywhere before `--`. Throws a UsageError
 * that names what cannot be understood, and the option that was probably meant.
 */
export function parseInput(command: CommandRow, argv: readonly string[]): Input {
  const rows = optionsOf(command)
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const found = new Map<string, string[]>()
  const operands: string[] = []
  for (const token of tokensOf(own, rows)) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const row = rows.find(({ name }) => name === token.name)
    if (row === undefined) throw unknownOption(command, token.rawName, rows)
    const values = found.get(row.name) ?? []
    if (values.length > 0 && row.value !== undefined && !row.many) {
      throw new UsageError(`--${row.name} is given twice`)
    }
    found.set(row.name, [...values, checkedValue(row, token.value)])
  }
  const { mostOperands = Infinity } = command
  if (operands.length > mostOperands) {
    const how = `trunkline ${command.name} ${command.operands}`
    throw new UsageError(`"${operands[mostOperands]}" is one too many: ${how}`)
  }
  return {
    command,
    operands,
    program: end === -1 ? undefined : argv.slice(end + 1),
    value: name => found.get(name)?.at(-1),
    values: name => found.get(name) ?? [],
    has: name => found.has(name),
  }
}

/** The complaint about a command that there is none of, with the one that was probably meant. */
export function unknownCommand(name: string): UsageError {
  const names = commands.map(each => each.name)
  const hint = didYouMean(name, names) || `; there are ${names.join(', ')}`
  return new UsageError(`there is no command "${name}"${hint}`)
}

/** A time as people write it, in milliseconds. Throws a UsageError that names the option. */
export function timeOf(option: string, text: string): number {
  const [, digits = '', unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? []
  const ms = Number(digits) * ({ ms: 1, s: 1000, m: 60_000 }[unit] ?? 0)
  if (digits !== '' && ms > 0 && ms <= 0x7fffffff) return ms
  throw new UsageError(`--${option} is a time such as 30s, 500ms or 2m, not "${text}"`)
}

/** A number above 0. Throws a UsageError that names the option. */
export function numberOf(
  option: string,
  text: string,
  { most, isWhole = false }: { readonly most: number; readonly isWhole?: boolean },
): number {
  const number = Number(text)
  const isGood = text.trim() !== '' && number > 0 && number <= most
  if (isGood && (!isWhole || Number.isInteger(number))) return number
  const what = isWhole ? 'a whole number' : 'a number'
  throw new UsageError(`--${option} is ${what} above 0 and up to ${most}, not "${text}"`)
}

type Token = NonNullable<
  ReturnType<typeof parseArgs<{ tokens: true; strict: false }>>['tokens']
>[number]

function tokensOf(argv: readonly string[], rows: readonly OptionRow[]): readonly Token[] {
  const options: ParseArgsConfig['options'] = {}
  for (const { name, short, value } of rows) {
    options[name] = { type: value === undefined ? 'boolean' : 'string', ...(short && { short }) }
  }
  // Not strict: its complaints name no option that was meant.
  const parsed = parseArgs({
    args: joined(argv, rows),
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  return parsed.tokens
}

/**
 * The arguments with values that begin with a dash joined to their options: `--args -` means stdin, and
 * would else be taken for an option without a value followed by an operand.
 */
function joined(argv: readonly string[], rows: readonly OptionRow[]): string[] {
  const args: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const arg = argv[at] ?? ''
    const row = rows.find(({ name, value }) => value !== undefined && arg === `--${name}`)
    if (row !== undefined && argv[at + 1] === '-') {
      args.push(`${arg}=-`)
      at++
    } else {
      args.push(arg)
    }
  }
  return args
}

function checkedValue(row: OptionRow, given: string | undefined): string {
  if (row.value === undefined) {
    if (given !== undefined) throw new UsageError(`--${row.name} takes no value, not "${given}"`)
    return ''
  }
  if (given === undefined)
    throw new UsageError(`--${row.name} needs a value: --${row.name} ${row.value}`)
  if (row.choices !== undefined && !row.choices.includes(given)) {
    const meant = didYouMean(given, row.choices)
    throw new UsageError(
      `--${row.name} is one of ${row.choices.join(', ')}, not "${given}"${meant}`,
    )
  }
  return given
}

function unknownOption(command: CommandRow, given: string, rows: readonly OptionRow[]): UsageError {
  const meant = didYouMean(
    given,
    rows.map(({ name }) => `--${name}`),
  )
  const hint = meant === '' ? `; "trunkline help ${command.name}" shows those there are` : meant
  return new UsageError(`"trunkline ${command.name}" has no option ${given}${hint}`)
}

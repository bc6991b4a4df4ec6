import { type ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../util/nearest.ts'
import { UsageError } from './exit.ts'
import { splitFlags } from './input/tool-flags.ts'
import { commands, optionsOf } from './manual/manual.ts'
import type { CommandRow, OptionRow } from './manual/rows.ts'

/** The parsed arguments of a command. */
export interface CommandLine {
  readonly command: CommandRow
  /** Arguments before `--` that are not options. */
  readonly operands: readonly string[]
  /** Arguments after `--`; undefined if there is no `--`. */
  readonly program: readonly string[] | undefined
  /** Names of tool arguments that were given as flags, and are in `operands` as `name=value`. */
  readonly flags: ReadonlySet<string>
  /** Returns the value of an option; the last one if it is repeated. */
  value(name: string): string | undefined
  values(name: string): readonly string[]
  /** Whether an option is present. */
  has(name: string): boolean
}

/**
 * Parses the arguments of a command. Options may be anywhere before `--`. Throws a UsageError that names the
 * invalid argument and suggests the closest option.
 */
export function parseCommandLine(command: CommandRow, argv: readonly string[]): CommandLine {
  const rows = optionsOf(command)
  const end = argv.indexOf('--')
  // The name of the tool is the first operand if the target is a program, else the second.
  const { argv: own, flags } = splitFlags(
    end === -1 ? argv : argv.slice(0, end),
    rows,
    command.takesArguments ? (end === -1 ? 2 : 1) : Number.POSITIVE_INFINITY,
  )
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
  const { maxOperands = Infinity } = command
  if (operands.length > maxOperands) {
    const usage = `trunkline ${command.name} ${command.operands}`
    throw new UsageError(`unexpected argument "${operands[maxOperands]}"; usage: ${usage}`)
  }
  return {
    command,
    operands,
    flags,
    program: end === -1 ? undefined : argv.slice(end + 1),
    value: name => found.get(name)?.at(-1),
    values: name => found.get(name) ?? [],
    has: name => found.has(name),
  }
}

/** Creates the error for an unknown command, with the closest name as a suggestion. */
export function unknownCommand(name: string): UsageError {
  const names = commands.map(each => each.name)
  const alias = commands.find(({ aka = [] }) => aka.includes(name.toLowerCase()))?.name
  const meant = alias ?? commandFor(name)
  const hint =
    meant === undefined
      ? didYouMean(name, names) || `; commands: ${names.join(', ')}`
      : `; did you mean "trunkline ${meant}"?`
  return new UsageError(`unknown command "${name}"${hint}`)
}

/** Returns the command line that was probably meant by something that is not a command; undefined if unknown. */
function commandFor(text: string): string | undefined {
  if (text.startsWith('-')) return `COMMAND ${text}`
  if (/^\w+:/.test(text)) return `list ${text}`
  if (/\.[cm]?[jt]s$/i.test(text)) return `serve ${text}`
  return /\.jsonc?$/i.test(text) ? `up ${text}` : undefined
}

/** Parses a duration such as `30s` into milliseconds. Throws a UsageError that names the option. */
export function parseDuration(option: string, text: string): number {
  const [, digits = '', unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? []
  const ms = Number(digits) * ({ ms: 1, s: 1000, m: 60_000 }[unit] ?? 0)
  if (digits !== '' && ms > 0 && ms <= 0x7fffffff) return ms
  throw new UsageError(`--${option} must be a duration such as 30s, 500ms or 2m (got "${text}")`)
}

/** Parses a number greater than 0. Throws a UsageError that names the option. */
export function parseNumber(
  option: string,
  text: string,
  { max, integer = false }: { readonly max: number; readonly integer?: boolean },
): number {
  const number = Number(text)
  const isInRange = text.trim() !== '' && number > 0 && number <= max
  if (isInRange && (!integer || Number.isInteger(number))) return number
  const what = integer ? 'an integer' : 'a number'
  throw new UsageError(`--${option} must be ${what} > 0 and ≤ ${max} (got "${text}")`)
}

type Token = NonNullable<
  ReturnType<typeof parseArgs<{ tokens: true; strict: false }>>['tokens']
>[number]

function tokensOf(argv: readonly string[], rows: readonly OptionRow[]): readonly Token[] {
  const options: ParseArgsConfig['options'] = {}
  for (const { name, short, value } of rows) {
    options[name] = { type: value === undefined ? 'boolean' : 'string', ...(short && { short }) }
  }
  // Not strict, because the errors of parseArgs suggest no option.
  const parsed = parseArgs({
    args: joinDashValues(argv, rows),
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  return parsed.tokens
}

/**
 * Joins a `-` value to its option: `--args -` means stdin, and would otherwise be parsed as an option without a
 * value followed by an operand.
 */
function joinDashValues(argv: readonly string[], rows: readonly OptionRow[]): string[] {
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
  if (row.optional !== undefined) return given ?? ''
  if (row.value === undefined) {
    if (given !== undefined) throw new UsageError(`--${row.name} takes no value (got "${given}")`)
    return ''
  }
  if (given === undefined)
    throw new UsageError(`--${row.name} requires a value: --${row.name} ${row.value}`)
  if (row.choices !== undefined && !row.choices.includes(given)) {
    const suggestion = didYouMean(given, row.choices)
    throw new UsageError(
      `--${row.name} must be one of ${row.choices.join(', ')} (got "${given}")${suggestion}`,
    )
  }
  return given
}

function unknownOption(command: CommandRow, given: string, rows: readonly OptionRow[]): UsageError {
  const alias = rows.find(({ aka = [] }) => aka.some(one => given === `--${one}`))
  const suggestion =
    alias === undefined
      ? didYouMean(
          given,
          rows.map(({ name }) => `--${name}`),
        )
      : `; did you mean "--${alias.name}"?`
  const place = command.takesArguments
    ? '; arguments follow the name: TARGET NAME --a 1, or a=1'
    : ''
  const hint = suggestion || place || `; "trunkline help ${command.name}" lists all options`
  return new UsageError(`unknown option ${given} for "trunkline ${command.name}"${hint}`)
}

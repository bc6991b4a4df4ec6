import { redact } from './redact.ts'

/** How much a line matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** How a line is written. */
export type LogFormat = 'json' | 'text'

/** One line of a log before it is written. */
export interface LogLine {
  readonly time: Date
  readonly level: LogLevel
  /** A short sentence that never changes. */
  readonly what: string
  /** What does; secrets among them are left out. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Least severe first. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** The place of a level among all, the least severe first. Throws a TypeError for one that does not exist. */
export function severity(level: LogLevel): number {
  const at = logLevels.indexOf(level)
  if (at === -1)
    throw new TypeError(`no log level is called "${level}"; there are ${logLevels.join(', ')}`)
  return at
}

/** A line as text, with its end. Nothing in it can begin a line of its own, or move the cursor. */
export function lineOf(line: LogLine, format: LogFormat, isColoured = false): string {
  const time = line.time.toISOString()
  // The check: of an object, redact makes an object.
  const fields = redact(line.fields) as Record<string, unknown>
  if (format === 'json') {
    const { level, what } = line
    return `${plain(JSON.stringify({ time, level, event: what, ...named(fields) }))}\n`
  }
  const level = line.level.toUpperCase().padEnd(5)
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${plain(name)}=${valueText(value)}`)
    .join('')
  if (!isColoured) return `${time} ${level} ${plain(line.what)}${shown}\n`
  return `\x1b[2m${time}\x1b[0m ${colours[line.level]}${level}\x1b[0m ${plain(line.what)}\x1b[2m${shown}\x1b[0m\n`
}

const colours: Readonly<Record<LogLevel, string>> = {
  debug: '\x1b[36m',
  info: '\x1b[32m',
  warn: '\x1b[33m',
  error: '\x1b[31m',
}

/** Fields cannot pose as what every line has. */
function named(fields: Record<string, unknown>): Record<string, unknown> {
  const { time: _time, level: _level, event: _event, ...rest } = fields
  return rest
}

function valueText(value: unknown): string {
  const isBare = typeof value === 'string' && /^[\w./:@#+-]+$/.test(value)
  return plain(isBare ? value : JSON.stringify(value))
}

/**
 * Without characters that a terminal obeys or that turn the writing round. JSON leaves some of them
 * as they are.
 */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
  return text.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, code => {
    return `\\u${code.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

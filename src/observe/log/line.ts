import { escapeUnprintable } from '../../util/text/printable.ts'
import { redact } from './redact.ts'

/** The severity of a log line. */
export type LogLineLevel = 'debug' | 'info' | 'warn' | 'error'

/** The format of log lines. */
export type LogFormat = 'json' | 'text'

/** A log line before it is formatted. */
export interface LogLine {
  /** When it was logged. */
  readonly time: Date
  /** How severe it is. */
  readonly level: LogLineLevel
  /** The name of the event: a short constant text. */
  readonly what: string
  /** The variable data; secrets in it are redacted. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The log levels, least severe first. */
export const logLineLevels: readonly LogLineLevel[] = ['debug', 'info', 'warn', 'error']

/** Returns the severity of a level as a number, 0 for `debug`. Throws a TypeError for an unknown level. */
export function severity(level: LogLineLevel): number {
  const at = logLineLevels.indexOf(level)
  if (at === -1)
    throw new TypeError(`unknown log level "${level}" (expected ${logLineLevels.join(', ')})`)
  return at
}

/** Formats a line, with a trailing newline. Control characters in it are escaped, so it cannot forge other lines. */
export function lineOf(line: LogLine, format: LogFormat, isColored = false): string {
  const time = line.time.toISOString()
  // The check: redact returns an object for an object.
  const fields = redact(line.fields) as Record<string, unknown>
  if (format === 'json') {
    const { level, what } = line
    return `${escapeUnprintable(JSON.stringify({ time, level, event: what, ...withoutReserved(fields) }))}\n`
  }
  const level = line.level.toUpperCase().padEnd(5)
  const shown = fieldsText(fields)
  if (!isColored) return `${time} ${level} ${escapeUnprintable(line.what)}${shown}\n`
  return `\x1b[2m${time}\x1b[0m ${colors[line.level]}${level}\x1b[0m ${escapeUnprintable(line.what)}\x1b[2m${shown}\x1b[0m\n`
}

/** Formats redacted fields as ` name=value name=value`, with control characters escaped. */
export function fieldsText(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${escapeUnprintable(name)}=${valueText(value)}`)
    .join('')
}

const colors: Readonly<Record<LogLineLevel, string>> = {
  debug: '\x1b[36m',
  info: '\x1b[32m',
  warn: '\x1b[33m',
  error: '\x1b[31m',
}

/** Removes fields with the names of the standard members, so that fields cannot replace them. */
function withoutReserved(fields: Record<string, unknown>): Record<string, unknown> {
  const { time: _time, level: _level, event: _event, ...rest } = fields
  return rest
}

function valueText(value: unknown): string {
  const isBare = typeof value === 'string' && /^[\w./:@#+-]+$/.test(value)
  return escapeUnprintable(isBare ? value : JSON.stringify(value))
}

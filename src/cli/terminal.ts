import { inspect } from 'node:util'
import { randomHex } from '../util/random.ts'
import { hideValues } from '../util/text/hidden-values.ts'
import { printable, printableJson } from '../util/text/printable.ts'

/** A stream for text, such as `process.stdout`. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Options of {@link Terminal}. */
export interface TerminalOptions {
  readonly stdout: Output
  readonly stderr: Output
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Suppresses notes and progress. */
  readonly quiet?: boolean
  readonly noColor?: boolean
}

/** Text styles. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** A progress bar. */
export interface ProgressBar {
  /** Shows `fraction`, from 0 to 1 or undefined if unknown, and a text. Repeating an update draws nothing. */
  update(fraction: number | undefined, text: string): void
  /** Removes the bar. Idempotent. */
  end(): void
}

/**
 * Output of a command: results on stdout, everything else on stderr.
 *
 * Colors are used only on a terminal, and not if NO_COLOR is set; FORCE_COLOR enables them anywhere. Progress is a
 * bar on a terminal; elsewhere each update is a line.
 *
 * Nothing else of the command line writes to these streams. Whatever reaches them is made printable here, so
 * that no text of a server can control the terminal. Only `write` passes text on as it is, and only where
 * stdout is not a terminal.
 */
export class Terminal {
  readonly #stdout: Output
  readonly #stderr: Output
  readonly #quiet: boolean
  readonly #colors: { readonly out: boolean; readonly err: boolean }
  #bar = ''
  /** Precedes the number of a style in text that `style` returns. Random, so that no server can use it. */
  readonly #mark = `\u0001${randomHex(6)}:`
  readonly #marks = new RegExp(`${this.#mark}(\\d+);`)

  constructor({ stdout, stderr, env = {}, quiet = false, noColor = false }: TerminalOptions) {
    this.#stdout = stdout
    this.#stderr = stderr
    this.#quiet = quiet
    const hasColors = (output: Output): boolean => !noColor && supportsColors(output, env)
    this.#colors = { out: hasColors(stdout), err: hasColors(stderr) }
  }

  /** Whether stdout is a terminal. */
  get isInteractive(): boolean {
    return this.#stdout.isTTY === true
  }

  /** Width of a line on stdout in characters. */
  get width(): number {
    return this.#stdout.columns ?? 100
  }

  /** Writes a result to stdout: unchanged, unless stdout is a terminal. */
  write(text: string): void {
    this.#clear()
    this.#stdout.write(this.#printable(text, this.isInteractive ? printable : unchanged))
  }

  /** Writes a line to stdout. */
  line(text = ''): void {
    this.#clear()
    this.#stdout.write(`${this.#printable(text)}\n`)
  }

  /** Writes a value to stdout as JSON. Characters that could control a terminal are escaped. */
  json(value: unknown): void {
    this.#clear()
    this.#stdout.write(`${printableJson(JSON.stringify(value, null, 2))}\n`)
  }

  /** Writes a line to stderr, unless `quiet` is set. */
  note(text: string): void {
    if (!this.#quiet) this.error(text)
  }

  /** Writes a line to stderr, even if `quiet` is set. */
  error(text: string): void {
    this.#clear()
    this.#stderr.write(`${this.#printable(hideValues(text))}\n`)
  }

  /**
   * Styles text for `write` and `line`; returns it unchanged if stdout has no colors. The result is for this
   * terminal only.
   */
  style(text: string, ...styles: readonly Style[]): string {
    return this.#styled(text, this.#colors.out, styles)
  }

  /** Styles text for `note` and `error`; returns it unchanged if stderr has no colors. */
  styleStderr(text: string, ...styles: readonly Style[]): string {
    return this.#styled(text, this.#colors.err, styles)
  }

  /** Starts a progress bar on stderr; it draws nothing if `quiet` is set. */
  progress(label: string): ProgressBar {
    if (this.#quiet) return { update: () => {}, end: () => {} }
    let last = ''
    const update = (fraction: number | undefined, text: string): void => {
      const { bar, plain } = barText(label, fraction, text, this.#stderr.columns ?? 80)
      const line = this.#stderr.isTTY ? bar : plain
      if (line === last) return
      last = line
      if (this.#stderr.isTTY) this.#draw(line)
      else this.error(line)
    }
    return { update, end: () => this.#clear() }
  }

  #draw(text: string): void {
    this.#clear()
    this.#bar = text
    this.#stderr.write(printable(text))
  }

  #clear(): void {
    if (this.#bar === '') return
    this.#bar = ''
    this.#stderr.write('\r\u001b[K')
  }

  #styled(text: string, isEnabled: boolean, styles: readonly Style[]): string {
    if (!isEnabled || text === '') return text
    return styles.reduceRight((inner, style) => {
      const [on, off] = inspect.colors[style] ?? [0, 0]
      return `${this.#mark}${on};${inner}${this.#mark}${off};`
    }, text)
  }

  /** Makes text printable, and turns the marks of `style` into styles. */
  #printable(text: string, clean: (piece: string) => string = printable): string {
    const pieces = text.split(this.#marks)
    return pieces.map((piece, at) => (at % 2 === 1 ? `\u001b[${piece}m` : clean(piece))).join('')
  }
}

function unchanged(text: string): string {
  return text
}

/** Makes text printable and fits it into one line of at most `max` characters. */
export function oneLine(text: string, max: number): string {
  const flat = printable(text).replace(/\s+/g, ' ').trim()
  const characters = [...flat]
  return characters.length <= max ? flat : `${characters.slice(0, Math.max(max - 1, 0)).join('')}…`
}

/** Formats a number of bytes, such as `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB']
  let value = bytes / 1024
  let at = 0
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024
    at++
  }
  return `${value.toFixed(1)} ${units[at]}`
}

function supportsColors(
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  // As no-color.org defines it: any value but the empty one.
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return output.isTTY === true && env.TERM !== 'dumb'
}

const barCells = 20

/** Corrects binary rounding, so that 29 of 100 is 29 percent. */
const rounding = 1e-9

function barText(
  label: string,
  fraction: number | undefined,
  text: string,
  columns: number,
): { readonly bar: string; readonly plain: string } {
  const share = fraction === undefined ? undefined : Math.min(Math.max(fraction, 0), 1)
  const percent = share === undefined ? '' : ` ${Math.floor(share * 100 + rounding)}%`
  const detail = oneLine(text, 200)
  const plain = `${label}:${percent}${detail === '' ? '' : ` ${detail}`}`
  if (share === undefined) return { plain, bar: oneLine(plain, columns - 1) }
  const full = Math.floor(share * barCells)
  const cells = `[${'#'.repeat(full)}${'-'.repeat(barCells - full)}]`
  return { plain, bar: oneLine(`${label} ${cells}${percent} ${detail}`, columns - 1) }
}

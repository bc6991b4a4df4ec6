import { styleText } from 'node:util'

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
 */
export class Terminal {
  readonly #stdout: Output
  readonly #stderr: Output
  readonly #quiet: boolean
  readonly #colors: { readonly out: boolean; readonly err: boolean }
  #bar = ''

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

  /** Writes a result to stdout, unchanged. */
  write(text: string): void {
    this.#clear()
    this.#stdout.write(text)
  }

  /** Writes a line to stdout. */
  line(text = ''): void {
    this.write(`${text}\n`)
  }

  /** Writes a value to stdout as JSON. */
  json(value: unknown): void {
    this.line(JSON.stringify(value, null, 2))
  }

  /** Writes a line to stderr, unless `quiet` is set. */
  note(text: string): void {
    if (!this.#quiet) this.error(text)
  }

  /** Writes a line to stderr, even if `quiet` is set. */
  error(text: string): void {
    this.#clear()
    this.#stderr.write(`${text}\n`)
  }

  /** Styles text for stdout; returns it unchanged if stdout has no colors. */
  style(text: string, ...styles: readonly Style[]): string {
    return styled(text, this.#colors.out, styles)
  }

  /** Styles text for stderr; returns it unchanged if stderr has no colors. */
  styleStderr(text: string, ...styles: readonly Style[]): string {
    return styled(text, this.#colors.err, styles)
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
      else this.#stderr.write(`${line}\n`)
    }
    return { update, end: () => this.#clear() }
  }

  #draw(text: string): void {
    this.#clear()
    this.#bar = text
    this.#stderr.write(text)
  }

  #clear(): void {
    if (this.#bar === '') return
    this.#bar = ''
    this.#stderr.write('\r\u001b[K')
  }
}

/** Replaces control characters, which could manipulate a terminal; keeps line feeds and tabs. */
export function sanitize(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}

/** Sanitizes text and fits it into one line of at most `max` characters. */
export function oneLine(text: string, max: number): string {
  const flat = sanitize(text).replace(/\s+/g, ' ').trim()
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

function styled(text: string, isEnabled: boolean, styles: readonly Style[]): string {
  if (!isEnabled || text === '') return text
  // The caller has decided by the streams and the environment of the terminal, not by those of the process.
  return styleText([...styles], text, { validateStream: false })
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

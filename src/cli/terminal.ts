/** A stream that text is written to, as `process.stdout` is one. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Where a command writes, and how. */
export interface TerminalOptions {
  readonly stdout: Output
  readonly stderr: Output
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Whether nothing but results and failures is wanted. */
  readonly quiet?: boolean
  readonly noColor?: boolean
}

/** The ways in which a text can stand out. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** How far something has come. */
export interface Bar {
  /** `part` is between 0 and 1, or undefined where nobody knows. Repeating a step draws nothing. */
  step(part: number | undefined, words: string): void
  /** Takes the bar away. Idempotent. */
  end(): void
}

/**
 * What a command writes to: results on stdout, everything else on stderr.
 *
 * Colours appear only on a terminal, and not where NO_COLOR is set; FORCE_COLOR insists on them. A
 * progress bar is drawn on a terminal; elsewhere each step is a line of its own.
 */
export class Terminal {
  readonly #stdout: Output
  readonly #stderr: Output
  readonly #quiet: boolean
  readonly #colours: { readonly out: boolean; readonly err: boolean }
  #bar = ''

  constructor({ stdout, stderr, env = {}, quiet = false, noColor = false }: TerminalOptions) {
    this.#stdout = stdout
    this.#stderr = stderr
    this.#quiet = quiet
    const wanted = (output: Output): boolean => !noColor && hasColours(output, env)
    this.#colours = { out: wanted(stdout), err: wanted(stderr) }
  }

  /** Whether somebody sits in front of the results. */
  get isInteractive(): boolean {
    return this.#stdout.isTTY === true
  }

  /** How many characters a line of the results has. */
  get width(): number {
    return this.#stdout.columns ?? 100
  }

  /** Writes a result, exactly as it is. */
  write(text: string): void {
    this.#clear()
    this.#stdout.write(text)
  }

  /** Writes a line of results. */
  line(text = ''): void {
    this.write(`${text}\n`)
  }

  /** Writes a value as JSON: the one document that programs read. */
  json(value: unknown): void {
    this.line(JSON.stringify(value, null, 2))
  }

  /** Tells something besides the results, unless quiet is wanted. */
  note(text: string): void {
    if (!this.#quiet) this.complain(text)
  }

  /** Tells what went wrong. */
  complain(text: string): void {
    this.#clear()
    this.#stderr.write(`${text}\n`)
  }

  /** A text in the style given, on results; plain where there are no colours. */
  paint(text: string, ...styles: readonly Style[]): string {
    return painted(text, this.#colours.out, styles)
  }

  /** The same for what stands on stderr. */
  tint(text: string, ...styles: readonly Style[]): string {
    return painted(text, this.#colours.err, styles)
  }

  /** Begins to show how far something has come. */
  progress(label: string): Bar {
    if (this.#quiet) return { step: () => {}, end: () => {} }
    let last = ''
    const step = (part: number | undefined, words: string): void => {
      const said = barText(label, part, words, this.#stderr.columns ?? 80)
      const text = this.#stderr.isTTY ? said.drawn : said.plain
      if (text === last) return
      last = text
      if (this.#stderr.isTTY) this.#draw(text)
      else this.#stderr.write(`${text}\n`)
    }
    return { step, end: () => this.#clear() }
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

/** A text from elsewhere that cannot steer a terminal; line feeds and tabs stay. */
export function harmless(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}

/** A text from elsewhere in one line of at most so many characters. */
export function oneLine(text: string, most: number): string {
  const flat = harmless(text).replace(/\s+/g, ' ').trim()
  const characters = [...flat]
  return characters.length <= most
    ? flat
    : `${characters.slice(0, Math.max(most - 1, 0)).join('')}…`
}

/** A number of bytes as people read it. */
export function byteText(bytes: number): string {
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

const codes: Readonly<Record<Style, number>> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  cyan: 36,
}

function painted(text: string, isWanted: boolean, styles: readonly Style[]): string {
  if (!isWanted || text === '') return text
  const begin = styles.map(style => `\u001b[${codes[style]}m`).join('')
  return `${begin}${text}\u001b[0m`
}

function hasColours(output: Output, env: Readonly<Record<string, string | undefined>>): boolean {
  // As no-color.org has it: any value but the empty one.
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return output.isTTY === true && env.TERM !== 'dumb'
}

const barCells = 20

/** So that 29 of 100 is 29 per cent, and not what is left of it in binary. */
const rounding = 1e-9

function barText(
  label: string,
  part: number | undefined,
  words: string,
  columns: number,
): { readonly drawn: string; readonly plain: string } {
  const share = part === undefined ? undefined : Math.min(Math.max(part, 0), 1)
  const percent = share === undefined ? '' : ` ${Math.floor(share * 100 + rounding)}%`
  const told = oneLine(words, 200)
  const plain = `${label}:${percent}${told === '' ? '' : ` ${told}`}`
  if (share === undefined) return { plain, drawn: oneLine(plain, columns - 1) }
  const full = Math.floor(share * barCells)
  const cells = `[${'#'.repeat(full)}${'-'.repeat(barCells - full)}]`
  return { plain, drawn: oneLine(`${label} ${cells}${percent} ${told}`, columns - 1) }
}

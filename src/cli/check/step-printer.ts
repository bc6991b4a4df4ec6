import type { Style, Terminal } from '../terminal.ts'
import type { Finding, FindingStatus } from './finding.ts'
import { foldHabits, lastStepWithHabits } from './habits.ts'
import type { StepReport } from './steps.ts'

/** Options of {@link StepPrinter}. */
export interface StepPrinterOptions {
  /** Whether to print every finding. */
  readonly isVerbose: boolean
  /** The steps whose outcome does not count. */
  readonly ignored: ReadonlySet<string>
}

/**
 * Prints the steps of a check as they complete. Steps with habits of the official SDK wait until it is known whether
 * the server shows the whole pattern.
 */
export class StepPrinter {
  readonly #terminal: Terminal
  readonly #options: StepPrinterOptions
  #waiting: StepReport[] = []
  #hasSkipped = false

  constructor(terminal: Terminal, options: StepPrinterOptions) {
    this.#terminal = terminal
    this.#options = options
  }

  add(report: StepReport): void {
    this.#waiting.push(report)
    const hasHabits = this.#waiting.some(({ findings }) => findings.some(({ habit }) => habit))
    if (!hasHabits || report.step === lastStepWithHabits) this.#flush()
  }

  /** Prints what is left, the number of folded habits, and the summary. */
  end(folded: number, summary: string): void {
    this.#flush()
    const { isVerbose } = this.#options
    if (folded > 0) {
      const points = `${folded} ${folded === 1 ? 'point' : 'points'}`
      const more = isVerbose ? '' : ': -v'
      this.#terminal.line(
        this.#terminal.style(`\nas the official SDK does, ${points}${more}`, 'dim'),
      )
    }
    this.#terminal.line(`\n${summary}`)
  }

  #flush(): void {
    const { reports, folded } = foldHabits(this.#waiting)
    this.#waiting = []
    for (const report of reports) {
      // One line for all skipped steps: the reason is the same.
      if (!report.tried && this.#hasSkipped) continue
      this.#hasSkipped ||= !report.tried
      this.#print(report, folded > 0)
    }
  }

  #print({ step, status, tried, findings }: StepReport, isFolded: boolean): void {
    const { isVerbose, ignored } = this.#options
    const terminal = this.#terminal
    const isIgnored = ignored.has(step) && status !== 'ok'
    const [word, style] = isIgnored ? (['ign', 'dim'] as const) : marks[status]
    // A passing step needs one line; otherwise show the findings that need attention.
    const isShown = ({ status: one, habit }: Finding): boolean =>
      isVerbose ||
      (!(habit && isFolded) && (one === status || (status === 'fail' && one === 'warn')))
    const shown = findings.filter(isShown)
    const isWorst = (finding: Finding): boolean => finding.status === status
    const [first, ...rest] = [...shown.filter(isWorst), ...shown.filter(one => !isWorst(one))]
    const name = tried ? step : '(others)'
    const mark = terminal.style(word.padEnd(4), style, 'bold')
    terminal.line(`${mark}  ${name.padEnd(13)} ${first?.message ?? 'as the official SDK does'}`)
    this.#printAdvice(first)
    for (const finding of rest) {
      const prefix = isVerbose || finding.status !== status ? `${marks[finding.status][0]}: ` : ''
      terminal.line(`${indent}${prefix}${finding.message}`)
      this.#printAdvice(finding)
    }
  }

  #printAdvice(finding: Finding | undefined): void {
    if (finding?.advice === undefined) return
    this.#terminal.line(`${indent}${this.#terminal.style(`→ ${finding.advice}`, 'cyan')}`)
  }
}

const indent = ' '.repeat(20)

const marks: Readonly<Record<FindingStatus, readonly [word: string, style: Style]>> = {
  ok: ['ok', 'green'],
  warn: ['warn', 'yellow'],
  fail: ['fail', 'red'],
  'not applicable': ['n/a', 'dim'],
}

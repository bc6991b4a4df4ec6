import { redactText } from '../../observe/log/redact.ts'
import { limits } from '../../util/limits/limits.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { ApiError } from '../http/api.ts'
import type { ConsoleCheck } from '../options.ts'
import type { CheckReport, CheckStepRow, ChecksAnswer } from '../wire.ts'

/** The last check of one target. */
interface Check {
  readonly startedAt: number
  readonly startedMs: number
  readonly steps: CheckStepRow[]
  readonly stop: AbortController
  ms: number | undefined
  problem: string | undefined
}

/** Runs checks of servers on demand, and keeps the last one of each target that still exists. */
export class Checks {
  readonly #engine: ConsoleCheck | undefined
  readonly #clock: Clock
  readonly #checks = new Map<string, Check>()

  constructor(engine: ConsoleCheck | undefined, clock: Clock = systemClock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** Returns what can be checked, and the last check of each. */
  read(): ChecksAnswer {
    const targets = this.#engine?.targets() ?? []
    for (const target of this.#checks.keys()) {
      if (!targets.includes(target)) this.#forget(target)
    }
    const reports = Array.from(this.#checks, ([target, check]) => reportOf(target, check))
    return { isAvailable: this.#engine !== undefined, targets, reports }
  }

  /**
   * Starts a check. Throws an ApiError 404 for an unknown target, 409 while it is being checked, and 503 if too many
   * checks run.
   */
  start(target: string): void {
    const engine = this.#engine
    if (engine === undefined || !engine.targets().includes(target)) {
      throw new ApiError(404, 'not_found', `there is nothing to check of the name "${target}"`)
    }
    const running = [...this.#checks.values()].filter(({ ms }) => ms === undefined).length
    if (this.#isRunning(target)) {
      throw new ApiError(409, 'running', `"${target}" is being checked already`)
    }
    if (running >= limits.consoleChecks.default) {
      throw new ApiError(503, 'too_many_checks', `${running} checks run already; wait for one`)
    }
    void this.#run(engine, target)
  }

  /** Stops a check. Throws an ApiError 404 if none of the target runs. */
  stop(target: string): void {
    if (!this.#isRunning(target)) {
      throw new ApiError(404, 'not_found', `"${target}" is not being checked`)
    }
    this.#checks.get(target)?.stop.abort(new Error('the check was stopped'))
  }

  /** Stops all checks and forgets them. */
  close(): void {
    for (const target of [...this.#checks.keys()]) this.#forget(target)
  }

  #isRunning(target: string): boolean {
    const check = this.#checks.get(target)
    return check !== undefined && check.ms === undefined
  }

  #forget(target: string): void {
    this.#checks.get(target)?.stop.abort(new Error('the check was stopped'))
    this.#checks.delete(target)
  }

  async #run(engine: ConsoleCheck, target: string): Promise<void> {
    const check: Check = {
      startedAt: Date.now(),
      startedMs: this.#clock.now(),
      steps: [],
      stop: new AbortController(),
      ms: undefined,
      problem: undefined,
    }
    this.#checks.set(target, check)
    const seconds = limits.consoleCheckMs.default / 1000
    const timer = this.#clock.start(
      () => check.stop.abort(new Error(`the check took longer than ${seconds} s`)),
      limits.consoleCheckMs.default,
    )
    timer.unref()
    try {
      await engine.run(target, check.stop.signal, step => addStep(check.steps, redacted(step)))
    } catch (error) {
      check.problem = redactText(errorMessage(error))
    } finally {
      this.#clock.stop(timer)
      check.ms = Math.round(this.#clock.now() - check.startedMs)
    }
  }
}

function reportOf(target: string, { startedAt, ms, steps, problem }: Check): CheckReport {
  return {
    target,
    startedAt,
    ...(ms !== undefined && { ms }),
    steps: [...steps],
    ...(problem !== undefined && { problem }),
  }
}

/** Adds a step, or replaces the one of the same name. */
function addStep(steps: CheckStepRow[], row: CheckStepRow): void {
  const at = steps.findIndex(({ step }) => step === row.step)
  steps.splice(at === -1 ? steps.length : at, 1, row)
}

/** Returns a step without secrets, which the output of a server may have. */
function redacted({ findings, ...step }: CheckStepRow): CheckStepRow {
  const most = limits.consoleTextLength.default
  return {
    ...step,
    findings: findings.map(({ status, message, advice }) => ({
      status,
      message: redactText(message).slice(0, most),
      ...(advice !== undefined && { advice: redactText(advice).slice(0, most) }),
    })),
  }
}

import { events, type InstanceExited } from '../../observe/events.ts'
import type { ServerStatus } from '../../router/status.ts'
import { limits } from '../../util/limits/limits.ts'
import { oneLine, type Terminal } from '../terminal.ts'
import { retryText, withoutStep } from './banner.ts'

/** What is known of an instance that failed. */
interface Failing {
  reason: string
  /** How often it failed for this reason. */
  count: number
  /** Runs while the instance is up; then it counts as recovered. */
  timer?: NodeJS.Timeout
}

/**
 * Prints one line when a server fails, is quarantined or recovers. A failure that repeats with the same reason is
 * counted, and printed again only at 5, 10, 50, 100, 500, … times.
 */
export class ServerNotes {
  readonly #terminal: Terminal
  readonly #failing = new Map<string, Failing>()
  #ends: readonly (() => void)[] = []

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** Starts to print. `shown` is the state that the user has seen already. */
  start(shown: readonly ServerStatus[]): void {
    for (const { name, instances } of shown) {
      for (const { key, state, reason } of instances) {
        if (state === 'ready' || reason === undefined) continue
        this.#failing.set(keyOf(name, key), { reason, count: 1 })
      }
    }
    this.#ends = [
      events.listFailed.subscribe(({ server, method, reason }) =>
        this.#print(server, `${method} failed: ${reason}`),
      ),
      events.listRecovered.subscribe(({ server, method }) =>
        this.#print(server, `${method} works again`),
      ),
      events.instanceExited.subscribe(event => this.#exited(event)),
      events.instanceStarted.subscribe(({ server, instance }) => this.#started(server, instance)),
      events.instanceQuarantined.subscribe(({ server, instance, reason }) => {
        this.#failing.set(keyOf(server, instance), { reason, count: 1 })
        this.#print(server, `quarantined: ${reason}; ${retryText()}`)
      }),
    ]
  }

  /** Stops printing. Idempotent. */
  stop(): void {
    for (const end of this.#ends) end()
    this.#ends = []
    for (const { timer } of this.#failing.values()) clearTimeout(timer)
    this.#failing.clear()
  }

  #exited({ server, instance, reason }: InstanceExited): void {
    const key = keyOf(server, instance)
    const before = this.#failing.get(key)
    clearTimeout(before?.timer)
    if (reason === undefined) {
      // The router has stopped it.
      this.#failing.delete(key)
      return
    }
    // The reason of a quarantined instance, as the user has seen it, ends in the reason of the failure.
    const isSame = before?.reason.endsWith(reason) === true
    const count = isSame ? before.count + 1 : 1
    this.#failing.set(key, { reason, count })
    if (count === 1) this.#print(server, `${reason}; restarting`)
    else if (isMilestone(count)) this.#print(server, `failed again (${count}×): ${reason}`)
  }

  #started(server: string, instance: string): void {
    const key = keyOf(server, instance)
    const failing = this.#failing.get(key)
    if (failing === undefined) return
    clearTimeout(failing.timer)
    failing.timer = setTimeout(() => {
      this.#failing.delete(key)
      this.#print(server, 'up again')
    }, limits.upRecoveredMs.default)
    failing.timer.unref()
  }

  #print(server: string, text: string): void {
    this.#terminal.note(
      `${this.#terminal.styleStderr(oneLine(server, 64), 'bold')}: ${oneLine(withoutStep(text), 500)}`,
    )
  }
}

function keyOf(server: string, instance: string): string {
  return JSON.stringify([server, instance])
}

/** Whether a number is 5, 10, 50, 100, 500, … */
function isMilestone(count: number): boolean {
  return /^(?:50*|10+)$/.test(String(count))
}

import { events } from '../../observe/events.ts'
import { redactText } from '../../observe/log/redact.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ChangeRow } from '../wire.ts'
import { Ring } from './ring.ts'

type Change = Omit<ChangeRow, 'seq' | 'at'>

/** Keeps what changed: servers that start, fail and recover, breakers, lists, tools and the configuration. */
export class ChangeFeed {
  readonly #ring = new Ring<ChangeRow>(limits.consoleChanges.default)
  readonly #now: () => number
  readonly #ends: readonly (() => void)[]

  constructor(now: () => number) {
    this.#now = now
    this.#ends = this.#subscribe()
  }

  get count(): number {
    return this.#ring.count
  }

  list(): readonly ChangeRow[] {
    return this.#ring.list()
  }

  after(count: number): readonly ChangeRow[] {
    return this.#ring.after(count)
  }

  /** Stops collecting. Idempotent. */
  close(): void {
    for (const end of this.#ends) end()
  }

  /** These events are rare: none is published for a call. */
  #subscribe(): (() => void)[] {
    const add = (change: Change): void => this.#add(change)
    return [
      events.instanceStarted.subscribe(({ server, instance, pid }) => {
        const text = pid === undefined ? 'connected' : `started (pid ${pid})`
        add({ level: 'ok', server, instance, text })
      }),
      events.instanceExited.subscribe(({ server, instance, reason, details }) => {
        if (reason === undefined) add({ level: 'info', server, instance, text: 'stopped' })
        else add({ level: 'warn', server, instance, text: reason, details })
      }),
      events.instanceRestarted.subscribe(({ server, instance, attempt, delayMs = 0 }) => {
        // The first attempts, and then fewer and fewer, as in the log.
        if (!Number.isInteger(Math.log2(attempt))) return
        const text = `restarting in ${secondsText(delayMs)} (attempt ${attempt})`
        add({ level: 'info', server, instance, text })
      }),
      events.instanceQuarantined.subscribe(({ server, instance, reason }) => {
        add({ level: 'error', server, instance, text: `quarantined: ${reason}` })
      }),
      events.listFailed.subscribe(({ server, instance, method, reason }) => {
        add({ level: 'warn', server, instance, text: `${method} failed: ${reason}` })
      }),
      events.listRecovered.subscribe(({ server, instance, method }) => {
        add({ level: 'ok', server, instance, text: `${method} works again` })
      }),
      events.healthMissed.subscribe(({ server, instance }) => {
        add({ level: 'warn', server, instance, text: 'missed a health check' })
      }),
      events.breakerChanged.subscribe(({ server, instance, to, reason }) => {
        const level = to === 'open' ? 'error' : to === 'closed' ? 'ok' : 'info'
        const why = reason === undefined ? '' : `: ${reason}`
        add({ level, server, instance, text: `circuit breaker ${to}${why}` })
      }),
      events.toolChanged.subscribe(({ server, tool, change, action }) => {
        const effect = action === undefined ? '' : `, ${action}`
        const level = action === undefined ? 'info' : 'warn'
        add({ level, server, text: `tool ${tool} ${change}${effect}` })
      }),
      events.configReloaded.subscribe(({ ok, added, removed, changed, problems = [] }) => {
        if (!ok) {
          const [first = 'it is invalid', ...others] = problems
          const details = others.length === 0 ? undefined : others.join('\n')
          add({ level: 'error', text: `configuration not reloaded: ${first}`, details })
          return
        }
        const parts = Object.entries({ added, removed, changed }).flatMap(([what, names = []]) =>
          names.length === 0 ? [] : [`${what} ${names.join(', ')}`],
        )
        const text = `configuration reloaded: ${parts.join('; ') || 'no server changed'}`
        add({ level: 'ok', text })
      }),
    ]
  }

  #add({ text, details, ...change }: Change): void {
    this.#ring.push({
      seq: this.#ring.count + 1,
      at: this.#now(),
      ...change,
      text: redactText(text),
      ...(details !== undefined && { details: redactText(details) }),
    })
  }
}

function secondsText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`
}

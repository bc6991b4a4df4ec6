import { events } from '../../observe/events.ts'
import type { LogLevel } from '../../observe/log/line.ts'
import type { Log } from '../../observe/log/log.ts'
import { type ConfigDiff, diffConfig } from '../../router/config/diff.ts'
import { ConfigError } from '../../router/config/issue.ts'
import type { RouterConfig } from '../../router/config/read.ts'
import { maskedConfig } from '../../router/config/redact.ts'
import type { Router } from '../../router/router.ts'
import { errorWords } from '../../util/error-words.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Terminal } from '../terminal.ts'
import { planOf, type Wishes } from './plan.ts'

/** What a new configuration is carried out on. */
export interface ReloadsHost {
  readonly router: Router
  readonly terminal: Terminal
  readonly wishes: Wishes
  /** Where the configuration that holds is written to, for those who look for mistakes. */
  readonly log: Log | undefined
  /** Whether the log tells of the event, so that nobody else need. */
  isToldByLog(level: LogLevel): boolean
  /** Serves on other addresses, and no longer on those before. */
  relisten(addresses: readonly string[]): Promise<void>
}

/** Carries out what a configuration file says, whenever it says something else. */
export class Reloads {
  readonly #host: ReloadsHost
  #current: RouterConfig | undefined

  constructor(host: ReloadsHost) {
    this.#host = host
  }

  /** What holds already. */
  begin(config: RouterConfig): void {
    this.#current = config
    this.#show(config)
  }

  /** Carries out another configuration. One that cannot be used changes nothing, and is told. */
  async take(outcome: RouterConfig | ConfigError): Promise<void> {
    const before = this.#current
    if (before === undefined) return
    if (outcome instanceof ConfigError) return this.#refuse(outcome.message)
    try {
      const { terminal, router, wishes } = this.#host
      const plan = planOf(outcome, wishes)
      const diff = diffConfig(before, outcome)
      // First, because an address may be taken, and then nothing is to change.
      const isElsewhere = diff.listenChanged && wishes.listen.length === 0
      if (isElsewhere) await this.#host.relisten(plan.listen)
      await router.update(plan.servers, { drainMs: limits.drainMs.default })
      this.#current = outcome
      this.#show(outcome)
      if (!this.#host.isToldByLog('info')) {
        const parts = isElsewhere ? [`serving ${plan.listen.join(', ')}`] : []
        terminal.note(`configuration read again: ${words(diff, parts)}`)
      } else {
        const { settings } = diff
        if (isElsewhere) this.#host.log?.write('info', 'serving', { addresses: plan.listen })
        if (settings.length > 0) {
          this.#host.log?.write('warn', 'settings hold from the next start on', { settings })
        }
      }
      if (events.configReloaded.isHeard) {
        const { added, removed } = diff
        events.configReloaded.publish({
          ok: true,
          added,
          removed,
          changed: [...diff.changed, ...diff.adjusted],
        })
      }
    } catch (error) {
      this.#refuse(errorWords(error))
    }
  }

  /** The configuration as it was understood, without its secrets. */
  #show(config: RouterConfig): void {
    const { log } = this.#host
    if (log?.writes('debug')) log.write('debug', 'configuration', { ...maskedConfig(config) })
  }

  #refuse(problem: string): void {
    if (!this.#host.isToldByLog('error')) {
      this.#host.terminal.complain(`the configuration stays as it was: ${problem}`)
    }
    if (events.configReloaded.isHeard) {
      events.configReloaded.publish({ ok: false, problems: problem.split('\n') })
    }
  }
}

function words(diff: ConfigDiff, others: readonly string[]): string {
  const parts = (['added', 'removed', 'changed', 'adjusted'] as const).flatMap(kind =>
    diff[kind].length === 0 ? [] : [`${kind} ${diff[kind].join(', ')}`],
  )
  const settings =
    diff.settings.length === 0 ? [] : [`${diff.settings.join(', ')} hold from the next start on`]
  return [...parts, ...others, ...settings].join('; ') || 'nothing is different'
}

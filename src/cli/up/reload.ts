import { events } from '../../observe/events.ts'
import type { LogLineLevel } from '../../observe/log/line.ts'
import type { Log } from '../../observe/log/log.ts'
import { type ConfigDiff, diffConfig } from '../../router/config/diff.ts'
import { ConfigError } from '../../router/config/issue.ts'
import type { RouterConfig } from '../../router/config/read.ts'
import { redactedConfig } from '../../router/config/redact.ts'
import type { Router } from '../../router/router.ts'
import { limits } from '../../util/limits/limits.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { Terminal } from '../terminal.ts'
import { type Plan, planOf, type UpOptions } from './plan.ts'

/** What a configuration reload acts on. */
export interface ConfigReloaderHost {
  readonly router: Router
  readonly terminal: Terminal
  readonly options: UpOptions
  /** Receives the effective configuration at level debug. */
  readonly log: Log | undefined
  /** Whether the log reports reloads at this level, so that the terminal need not. */
  isLogged(level: LogLineLevel): boolean
  /** Applies another access policy. Rejects, and changes nothing, if it is invalid. */
  usePolicy(policy: Plan['policy']): Promise<void>
  /** Returns servers with the credentials that users grant. Throws if the router cannot ask them. */
  withGrants(servers: Plan['servers']): Plan['servers']
  /** Moves the router to other addresses. */
  relisten(addresses: readonly string[]): Promise<void>
}

/** Applies a changed configuration file to a running router. */
export class ConfigReloader {
  readonly #host: ConfigReloaderHost
  #current: RouterConfig | undefined

  constructor(host: ConfigReloaderHost) {
    this.#host = host
  }

  /** Sets the configuration that is already in effect. */
  start(config: RouterConfig): void {
    this.#current = config
    this.#show(config)
  }

  /** Applies a new configuration. An invalid one changes nothing and is reported. */
  async apply(outcome: RouterConfig | ConfigError): Promise<void> {
    const before = this.#current
    if (before === undefined) return
    if (outcome instanceof ConfigError) return this.#reject(outcome.message)
    try {
      const { terminal, router, options } = this.#host
      const next = this.#keepingValid(before, outcome)
      const plan = planOf(next, options)
      const servers = this.#host.withGrants(plan.servers)
      const diff = diffConfig(before, next)
      // First, because this fails if an address is in use, and then nothing must change.
      const hasMoved = diff.listenChanged && options.listen.length === 0
      if (hasMoved) await this.#host.relisten(plan.listen)
      if (diff.policyChanged && options.policy === undefined) {
        await this.#host.usePolicy(plan.policy)
      }
      await router.update(servers, { drainMs: limits.drainMs.default })
      this.#current = next
      this.#show(next)
      if (!this.#host.isLogged('info')) {
        const parts = [
          ...(hasMoved ? [`serving ${plan.listen.join(', ')}`] : []),
          ...(diff.policyChanged ? ['policy replaced'] : []),
        ]
        terminal.note(`configuration reloaded: ${diffText(diff, parts)}`)
      } else {
        const { settings } = diff
        if (hasMoved) this.#host.log?.write('info', 'serving', { addresses: plan.listen })
        if (settings.length > 0) {
          this.#host.log?.write('warn', 'settings need a restart', { settings })
        }
      }
      if (events.configReloaded.hasSubscribers) {
        const { added, removed } = diff
        events.configReloaded.publish({
          ok: true,
          added,
          removed,
          changed: [...diff.changed, ...diff.adjusted],
        })
      }
    } catch (error) {
      this.#reject(errorMessage(error))
    }
  }

  /**
   * Returns the new configuration, in which a server that has become invalid stays as it was: a mistake in a file
   * must not stop a server that runs.
   */
  #keepingValid(before: RouterConfig, after: RouterConfig): RouterConfig {
    const kept = Object.entries(after.servers).map(([name, options]) => {
      const earlier = Object.hasOwn(before.servers, name) ? before.servers[name] : undefined
      const isKept = options.configError !== undefined && options.disabled !== true
      if (!isKept || earlier === undefined || earlier.configError !== undefined) {
        return [name, options] as const
      }
      this.#reject(`server ${name} stays as it was: ${options.configError}`)
      return [name, earlier] as const
    })
    return { ...after, servers: Object.fromEntries(kept) }
  }

  /** Logs the effective configuration, without secrets. */
  #show(config: RouterConfig): void {
    const { log } = this.#host
    if (log?.writes('debug')) log.write('debug', 'configuration', { ...redactedConfig(config) })
  }

  #reject(problem: string): void {
    if (!this.#host.isLogged('error')) {
      this.#host.terminal.error(`configuration not reloaded: ${problem}`)
    }
    if (events.configReloaded.hasSubscribers) {
      events.configReloaded.publish({ ok: false, problems: problem.split('\n') })
    }
  }
}

function diffText(diff: ConfigDiff, others: readonly string[]): string {
  const parts = (['added', 'removed', 'changed', 'adjusted'] as const).flatMap(kind =>
    diff[kind].length === 0 ? [] : [`${kind} ${diff[kind].join(', ')}`],
  )
  const settings =
    diff.settings.length === 0 ? [] : [`restart to apply ${diff.settings.join(', ')}`]
  return [...parts, ...others, ...settings].join('; ') || 'no changes'
}

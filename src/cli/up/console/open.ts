import type { Console } from '../../../console/console.ts'
import type { ConsoleConfig } from '../../../console/options.ts'
import type { HostSnippet, IssueRow } from '../../../console/wire.ts'
import type { Observer } from '../../../observe/observe.ts'
import type { ConsoleSettings } from '../../../router/config/console/fields.ts'
import { type ConfigDiff, diffConfig } from '../../../router/config/diff.ts'
import type { Environment } from '../../../router/config/env.ts'
import { parserFor } from '../../../router/config/formats/format.ts'
import { ConfigError, type ConfigIssue } from '../../../router/config/issue.ts'
import { type RouterConfig, readConfig } from '../../../router/config/read.ts'
import { redactedConfig } from '../../../router/config/redact.ts'
import type { Router } from '../../../router/router.ts'
import { ownMember } from '../../../util/objects.ts'
import { withServer } from '../../hosts/edit/edit.ts'
import { entryOf } from '../../hosts/edit/entry.ts'
import { hosts } from '../../hosts/hosts.ts'
import { type ConsolePlan, isServable } from './plan.ts'

/** What the console of `trunkline up` shows. */
export interface UpConsoleSetup {
  readonly router: Router
  readonly observer: Observer
  /** How it is served; undefined for no console. */
  readonly settings: ConsolePlan
  /** Returns the configuration that is in effect; undefined without a file. */
  readonly config: () => RouterConfig | undefined
  readonly env: Environment
  /** Returns the addresses of the router. */
  readonly addresses: () => readonly string[]
}

/** The console of a running router. */
export interface UpConsole extends Pick<Console, 'renewKey' | 'handles' | 'handle'> {
  /** Returns the link that opens the console; undefined if the router is at no address that can serve it. */
  link(): string | undefined
  /** Returns what `--json` prints; undefined without a link. */
  report(): { readonly address: string; readonly key: string } | undefined
  close(): Promise<void>
}

/** Opens the console, if there is to be one. Its code is loaded only then. */
export async function openConsole(setup: UpConsoleSetup): Promise<UpConsole | undefined> {
  const { settings, addresses } = setup
  if (settings === undefined) return undefined
  const made = await makeConsole(setup, settings)
  const { address } = settings
  if (address === undefined) {
    const place = (): string | undefined => addresses().find(isServable)
    return withLink(made, place, () => made.close())
  }
  const { listenConsole } = await import('../../../console/listen.ts')
  const listener = await listenConsole(made, address)
  return withLink(
    made,
    () => listener.address,
    async () => {
      await made.close()
      await listener.close()
    },
  )
}

function withLink(
  made: Console,
  place: () => string | undefined,
  close: () => Promise<void>,
): UpConsole {
  const link = (): string | undefined => {
    const address = place()
    return address === undefined ? undefined : made.link(address)
  }
  return {
    link,
    report: () => {
      const [address] = link()?.split('#', 1) ?? []
      return address === undefined ? undefined : { address, key: made.key }
    },
    close,
    renewKey: () => made.renewKey(),
    handles: request => made.handles(request),
    handle: (request, reply) => made.handle(request, reply),
  }
}

async function makeConsole(setup: UpConsoleSetup, settings: ConsoleSettings): Promise<Console> {
  const { router, observer, addresses, env } = setup
  const { consoleOf } = await import('../../../console/console.ts')
  const { upCheck } = await import('./check.ts')
  return consoleOf(router, {
    observer,
    actions: settings.actions,
    people: settings.people,
    record: settings.record,
    // For work on the page.
    assets: env.TRUNKLINE_CONSOLE_ASSETS,
    ...(setup.config() !== undefined && { config: configOf(setup) }),
    check: upCheck(setup),
    connect: () => ({ addresses: addresses(), hosts: snippets(addresses()) }),
  })
}

function configOf({ config, env }: UpConsoleSetup): ConsoleConfig {
  const shown = (): Record<string, unknown> => {
    const current = config()
    return current === undefined ? {} : redactedConfig(current)
  }
  return {
    read: () => ({
      file: config()?.file,
      text: JSON.stringify(shown(), null, 2),
      issues: (config()?.warnings ?? []).map(issueRow),
    }),
    entry: server => ownMember(shown().servers, server),
    check: async text => {
      const current = config()
      try {
        const parse = await parserFor(current?.file ?? 'servers.jsonc', text)
        const next = readConfig(text, { env, tolerant: true, parse, file: current?.file })
        const issues = next.warnings.map(issueRow)
        return {
          issues,
          changes: current === undefined ? [] : diffLines(diffConfig(current, next)),
        }
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        return { issues: error.issues.map(issueRow), changes: [] }
      }
    },
  }
}

function issueRow({ severity, line, column, message }: ConfigIssue): IssueRow {
  return { severity, line, column, message }
}

function diffLines(diff: ConfigDiff): readonly string[] {
  const kinds = ['added', 'removed', 'changed', 'adjusted'] as const
  return [
    ...kinds.flatMap(kind => diff[kind].map(name => `server ${name}: ${kind}`)),
    ...(diff.listenChanged ? ['listen: changed'] : []),
    ...(diff.policyChanged ? ['policy: changed'] : []),
    ...diff.settings.map(name => `${name}: changed, after a restart`),
  ]
}

/** Returns what to paste into the file of each host. */
function snippets(addresses: readonly string[]): readonly HostSnippet[] {
  const url = addresses.find(address => /^https?:/.test(address))
  if (url === undefined) return []
  const name = 'trunkline'
  return hosts.map(host => {
    const user = typeof host.user === 'object' ? hostFile(host.user) : host.user
    const path = user ?? host.project ?? ''
    const text = withServer('', { path, host }, name, entryOf(host.form, name, { url }))
    const how = `In ${path}, or: trunkline install ${host.id} --url ${url}`
    return { id: host.id, title: host.title, how, text: text.trimEnd() }
  })
}

function hostFile(paths: Readonly<Record<'linux' | 'darwin' | 'win32', string>>): string {
  const { platform } = process
  return platform === 'win32' || platform === 'darwin' ? paths[platform] : paths.linux
}

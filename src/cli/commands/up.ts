import { relative } from 'node:path'
import { Ops } from '../../observe/health/health.ts'
import type { Log } from '../../observe/log/log.ts'
import { observe } from '../../observe/observe.ts'
import { withSessionEvents } from '../../observe/observed.ts'
import { ConfigError, describeIssue } from '../../router/config/issue.ts'
import { Router } from '../../router/router.ts'
import type { Listener } from '../../transport/listener.ts'
import { errorMessage } from '../../util/error-message.ts'
import { limits } from '../../util/limits/limits.ts'
import { exitCodes, withUsageErrors } from '../exit.ts'
import type { Invocation, Run } from '../invocation.ts'
import { findConfig } from '../target/config-file.ts'
import { noteSlowServers, printBanner } from '../up/banner.ts'
import { checkFree, closeAll, listenAll } from '../up/listeners.ts'
import { openPinFile, type PersistentPins, routerPinsHost } from '../up/pin-file.ts'
import { demoPlan, type Plan, planOf, type UpOptions } from '../up/plan.ts'
import { ConfigReloader } from '../up/reload.ts'
import { handleSighup } from '../up/sighup.ts'
import { type ConfigWatch, watchConfig } from '../watch/config-watch.ts'

/** `trunkline up`: serves the configured servers behind one address until it is interrupted. */
export const run: Run = async invocation => {
  const { input, terminal, env } = invocation
  const options = upOptionsOf(invocation)
  const [given] = input.operands
  const path = await configPath(given, input.has('demo'))
  let reloader: ConfigReloader | undefined
  const watch =
    path === undefined
      ? undefined
      : await watchConfig(path, {
          env,
          // Either other machines are allowed, or the addresses of the file are not used.
          allowPublic: options.isPublic || options.listen.length > 0,
          onChange: outcome => reloader?.apply(outcome),
        })
  try {
    for (const warning of watch?.config.warnings ?? []) {
      terminal.note(describeIssue(warning, path))
    }
    const config = watch?.config
    const plan = await withUsageErrors(() =>
      config === undefined ? demoPlan(ownProgram(), options) : planOf(config, options),
    )
    if (input.has('dry-run')) return printDryRun(invocation, plan, path)
    const onStarted = (started: ConfigReloader): void => {
      reloader = started
      if (config === undefined) return
      started.start(config)
      // The file may have changed while the servers started.
      if (watch !== undefined && watch.config !== config) void started.apply(watch.config)
    }
    return await serve({ invocation, plan, options, watch, onStarted })
  } finally {
    await watch?.close()
  }
}

/** The input of `serve`. */
interface UpSetup {
  readonly invocation: Invocation
  readonly plan: Plan
  readonly options: UpOptions
  readonly watch: ConfigWatch | undefined
  /** Receives the reloader once the router is up. */
  readonly onStarted: (reloader: ConfigReloader) => void
}

/** Starts the router, serves it until stdio ends or the command is stopped, and closes everything. */
async function serve(setup: UpSetup): Promise<number> {
  const { invocation, plan, watch } = setup
  const { terminal, signal } = invocation
  const running = await startRouter(plan, setup.options)
  const { router, pins, observer, logError } = running
  const sighup = handleSighup(() => {
    watch?.check()
    // A quarantined server waits for an operator, and an operator sends this signal.
    for (const { name } of router.servers()) router.retry(name)
  })
  const stopped = Promise.race([aborted(signal), sighup.terminalClosed])
  let listeners: ReadonlyMap<string, Listener> = new Map()
  try {
    await pins?.startWatching(routerPinsHost(router, terminal))
    const endpoint = withSessionEvents(router)
    // Health is always served, even if metrics are off or have an address of their own.
    const ops = plan.metrics === true ? observer.ops : new Ops({ health: () => router.health() })
    const listenOptions = { ops, isAnyPort: plan.isAnyPort, onError: logError }
    listeners = await listenAll(endpoint, plan.listen, listenOptions)
    const opsListener =
      typeof plan.metrics === 'string' ? await observer.listen(plan.metrics) : undefined
    await readyOrStopped(setup, router, stopped)
    if (signal.aborted) return exitCodes.ok
    const addresses = Array.from(listeners.values(), ({ address }) => address)
    reportStarted(setup, router, addresses, opsListener?.address)
    const relisten = async (next: readonly string[]): Promise<void> => {
      const old = listeners
      listeners = await listenAll(endpoint, next, { ...listenOptions, isAnyPort: false }, old)
      await closeAll(old, listeners)
    }
    setup.onStarted(reloaderOf(setup, running, relisten))
    await Promise.race([stdioEnded([...listeners.values()]), stopped])
    return exitCodes.ok
  } finally {
    await closeAll(listeners)
    await router.close({ drainMs: limits.drainMs.default })
    await pins?.close()
    await observer.close()
    sighup.stop()
  }
}

/** A router with its pins and its observer. */
interface RunningRouter {
  readonly router: Router
  readonly pins: PersistentPins | undefined
  readonly observer: ReturnType<typeof observe>
  readonly logError: (error: unknown) => void
}

/** Creates the router, which starts its servers. Throws before that if pins or addresses cannot be used. */
async function startRouter(plan: Plan, options: UpOptions): Promise<RunningRouter> {
  const pins = options.pins === undefined ? undefined : await openPinFile(options.pins)
  // Checked before any program is started: without an address there is no use for them.
  if (!plan.isAnyPort) await checkFree(plan.listen)
  let log: Log | undefined
  const logError = (error: unknown): void => {
    log?.write('warn', errorMessage(error))
  }
  const router = new Router({
    ...plan.router,
    servers: plan.servers,
    pins: pins?.pins,
    onPinned: () => pins?.save(),
    onError: logError,
  })
  const logs = { level: plan.logLevel, reloads: logsReloads() }
  const observer = observe({ endpoint: router, logs, metrics: true, traces: true })
  log = observer.log
  return { router, pins, observer, logError }
}

/** Whether the log reports configuration reloads. On a terminal the command prints readable notes instead. */
function logsReloads(): boolean {
  return process.stderr.isTTY !== true
}

/** Waits until every server has been tried, and names the slow ones after a while. */
async function readyOrStopped(
  { invocation, plan }: UpSetup,
  router: Router,
  stopped: Promise<void>,
): Promise<void> {
  const note = (): void => noteSlowServers(invocation.terminal, router, plan.listen)
  const timer = setTimeout(note, limits.upSlowNoticeMs.default)
  await Promise.race([router.ready(), stopped])
  clearTimeout(timer)
}

/** Prints what is served: a banner, or with `--json` a document. */
function reportStarted(
  { invocation, watch }: UpSetup,
  router: Router,
  addresses: readonly string[],
  opsAddress: string | undefined,
): void {
  const { input, terminal } = invocation
  if (input.has('json')) {
    // On stdio, stdout carries protocol messages.
    if (!addresses.includes('stdio:')) terminal.json({ addresses, servers: router.servers() })
    return
  }
  const opsBase = opsAddress ?? addresses.find(one => one.startsWith('http:'))
  const ops = opsBase && new URL('/readyz', opsBase).href
  const example = watch === undefined ? 'text__count text="one two three"' : undefined
  printBanner(terminal, { router, addresses, ops, program: programName(), example })
}

function reloaderOf(
  { invocation, options }: UpSetup,
  { router, observer }: RunningRouter,
  relisten: (addresses: readonly string[]) => Promise<void>,
): ConfigReloader {
  const { log } = observer
  return new ConfigReloader({
    router,
    terminal: invocation.terminal,
    options,
    log,
    isLogged: level => logsReloads() && log?.writes(level) === true,
    relisten,
  })
}

/** Prints what would be served. */
function printDryRun(
  { input, terminal }: Invocation,
  plan: Plan,
  file: string | undefined,
): number {
  const servers = Object.entries(plan.servers)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name]) => name)
  if (input.has('json')) terminal.json({ file, addresses: plan.listen, servers })
  else {
    terminal.line(file === undefined ? 'no configuration: demo servers' : `${file}: valid`)
    terminal.line(`Would serve ${plan.listen.join(', ')}`)
    for (const name of servers) terminal.line(`  ${name}`)
  }
  return exitCodes.ok
}

function upOptionsOf({ input }: Invocation): UpOptions {
  return {
    listen: input.values('listen'),
    metrics: input.value('metrics'),
    logLevel: input.value('log-level'),
    pins: input.value('pins'),
    isPublic: input.has('public'),
  }
}

/** Returns the configuration file to read; undefined for the demo, or if none was named and none is found. */
async function configPath(given: string | undefined, isDemo: boolean): Promise<string | undefined> {
  if (isDemo) return undefined
  try {
    return await findConfig(given)
  } catch (error) {
    if (given !== undefined || !(error instanceof ConfigError)) throw error
    return undefined
  }
}

/** The command that starts this program again. */
function ownProgram(): readonly string[] {
  return [process.execPath, process.argv[1] ?? '']
}

/** This program as the user would type it in the current folder. */
function programName(): string {
  const file = process.argv[1] ?? ''
  // Started by npx or by a package script, so it is not in PATH.
  if (/[\\/]node_modules[\\/]\.bin[\\/]/.test(file)) return 'npx trunkline'
  if (!file.endsWith('.js')) return 'trunkline'
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? 'trunkline' : `node ${path}`
}

/** Settles when every stdio listener has ended; never if there is none. */
function stdioEnded(listeners: readonly Listener[]): Promise<unknown> {
  const stdio = listeners.filter(({ address }) => address === 'stdio:')
  return stdio.length === 0 ? new Promise(() => {}) : Promise.all(stdio.map(one => one.ended))
}

/** Resolves when the signal is aborted: for this command an interruption is the normal end. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

import { availableParallelism } from 'node:os'
import type { Log } from '../../observe/log/log.ts'
import { observe } from '../../observe/observe.ts'
import { withSessionEvents } from '../../observe/observed.ts'
import { definitionKey } from '../../router/catalog/definition-key.ts'
import { isByUsers } from '../../router/config/auth/rules.ts'
import { describeIssue } from '../../router/config/issue.ts'
import { defaultStarts } from '../../router/policy/start-gate.ts'
import { Router } from '../../router/router.ts'
import type { Listener } from '../../transport/listener.ts'
import { limits } from '../../util/limits/limits.ts'
import { aborted } from '../../util/promises.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { AccessControl } from '../access/access-control.ts'
import type { ServerGrants } from '../access/server-grants.ts'
import type { CliCluster } from '../cluster/cluster-of.ts'
import { exitCodes, UsageError, withUsageErrors } from '../exit.ts'
import { askConfigInputs } from '../input/config-inputs.ts'
import type { Invocation, Run } from '../invocation.ts'
import { ownProgram, programName } from '../program.ts'
import { noteSlowServers, printBanner } from '../up/banner.ts'
import { configPaths } from '../up/config-paths.ts'
import { openConsole, type UpConsole } from '../up/console/open.ts'
import { type DevAuth, devAuthText, devUsersOf, startDevAuth } from '../up/dev-auth.ts'
import { printDryRun } from '../up/dry-run.ts'
import { defaultCachePath, type ListCache, openListCache } from '../up/list-cache.ts'
import { checkFree, closeAll, listenAll, listenViews, type ViewListeners } from '../up/listeners.ts'
import { openPinFile, type PersistentPins, routerPinsHost } from '../up/pin-file.ts'
import { demoPlan, type Plan, planOf, type UpOptions, upOptionsOf } from '../up/plan.ts'
import { ConfigReloader } from '../up/reload.ts'
import { ServerNotes } from '../up/server-notes.ts'
import { handleSighup } from '../up/sighup.ts'
import { type ConfigWatches, watchConfigs } from '../watch/config-watches.ts'
import { RouterOps } from '../workers/ops.ts'
import { withWorkers } from '../workers/with-workers.ts'
import type { Worker } from '../workers/worker.ts'

/** `trunkline up`: serves the configured servers behind one address until it is interrupted. */
export const run: Run = invocation => withWorkers(invocation, serveConfigured)

async function serveConfigured(
  invocation: Invocation,
  worker: Worker | undefined,
): Promise<number> {
  const { input, terminal, env } = invocation
  const options = await withUsageErrors(() => upOptionsOf(invocation))
  const [first, ...others] = await configPaths(invocation)
  let reloader: ConfigReloader | undefined
  let devAuth: DevAuth | undefined
  const watch =
    first === undefined
      ? undefined
      : await watchConfigs([first, ...others], {
          env,
          // Either other machines are allowed, or the addresses of the file are not used.
          allowPublic: options.isPublic || options.listen.length > 0,
          hasCallerTokens: options.isDevAuth,
          tolerant: !input.has('strict'),
          // Several processes cannot ask the same user.
          ask: async inputs => (worker ? new Map() : askConfigInputs(invocation, inputs)),
          onChange: outcome => reloader?.apply(outcome),
        })
  try {
    for (const warning of watch?.config.warnings ?? []) {
      terminal.note(describeIssue(warning, watch?.config.file))
    }
    const config = watch?.config
    const planned = await withUsageErrors(() =>
      config === undefined ? demoPlan(ownProgram(), options) : planOf(config, options),
    )
    const served = [...planned.listen, ...Object.values(planned.viewAddresses).flat()]
    const users = devUsersOf(input, served, planned.auth !== undefined)
    if (users !== undefined && !input.has('dry-run')) devAuth = await startDevAuth(users)
    const plan = devAuth === undefined ? planned : { ...planned, auth: devAuth.config }
    if (planned.auth !== undefined) {
      const { auth } = planned
      const { checkCallerAuth } = await import('../up/caller-auth.ts')
      // Before any program is started.
      await withUsageErrors(() => checkCallerAuth(auth))
    }
    if (input.has('dry-run')) return await printDryRun(invocation, plan, config)
    const onStarted = (started: ConfigReloader): void => {
      reloader = started
      if (config === undefined) return
      started.start(config)
      // The file may have changed while the servers started.
      if (watch !== undefined && watch.config !== config) void started.apply(watch.config)
    }
    const cluster = await joinedCluster(invocation, worker)
    try {
      const shared = cluster === undefined ? plan : cluster.share(plan)
      const setup = { invocation, worker, plan: shared, options, watch, devAuth, cluster }
      return await serve({ ...setup, onStarted })
    } finally {
      await cluster?.[Symbol.asyncDispose]()
    }
  } finally {
    await devAuth?.close()
    await watch?.close()
  }
}

/** Opens the engine of the cluster that this process takes part in; undefined if it takes part in none. */
async function joinedCluster(
  invocation: Invocation,
  worker: Worker | undefined,
): Promise<CliCluster | undefined> {
  const { input, env } = invocation
  const hasEngine = input.has('cluster') || env.TRUNKLINE_CLUSTER !== undefined
  if (!hasEngine && worker === undefined) return undefined
  const { clusterOf } = await import('../cluster/cluster-of.ts')
  return clusterOf(invocation, worker)
}

/** The input of `serve`. */
interface UpSetup {
  readonly invocation: Invocation
  /** This process as one of several that serve the same. */
  readonly worker: Worker | undefined
  readonly plan: Plan
  readonly options: UpOptions
  readonly watch: ConfigWatches | undefined
  /** The authorization server for development beside the router. */
  readonly devAuth: DevAuth | undefined
  /** The cluster that the listeners take part in. */
  readonly cluster: CliCluster | undefined
  /** Receives the reloader once the router is up. */
  readonly onStarted: (reloader: ConfigReloader) => void
}

/** Starts the router, serves it until stdio ends or the command is stopped, and closes everything. */
async function serve(setup: UpSetup): Promise<number> {
  const { invocation, plan, watch, worker } = setup
  const { terminal, signal } = invocation
  const running = await startRouter(plan, setup)
  const { router, access, pins, cache, observer, logError, grants } = running
  const sighup = handleSighup(() => {
    watch?.check()
    for (const listener of listeners.values()) void listener.reload?.()
    itsConsole?.renewKey()
    if (itsConsole !== undefined) terminal.note(`Console ${itsConsole.link()}`)
    // A quarantined server waits for an operator, and an operator sends this signal.
    for (const { name } of router.servers()) router.retry(name)
  })
  const stopped = Promise.race([
    aborted(signal),
    sighup.terminalClosed,
    ...(setup.cluster === undefined ? [] : [setup.cluster.drainRequested]),
  ])
  let listeners: ReadonlyMap<string, Listener> = new Map()
  let views: ViewListeners = new Map()
  const notes = new ServerNotes(terminal)
  const ops = new RouterOps({ plan, router, observer, worker })
  let itsConsole: UpConsole | undefined
  try {
    itsConsole = await openConsole({
      router,
      observer,
      settings: plan.console,
      config: () => watch?.config,
      env: invocation.env,
      addresses: () => addressesIn(listeners),
    })
    const shared = plan.console?.address === undefined ? itsConsole : undefined
    await pins?.startWatching(
      routerPinsHost(router, terminal, logsReloads() ? observer.log : undefined),
    )
    const served = plan.view === undefined ? router : router.view(plan.view)
    const endpoint = withSessionEvents(served)
    const { lameDuckMs } = setup.options
    const { isAnyPort, tls, auth } = plan
    const pages = grants?.pages
    const { cluster } = setup
    const listenOptions = {
      ...{ ops: ops.beside, isAnyPort, lameDuckMs, tls, auth, pages, cluster },
      onError: logError,
    }
    const withConsole = { ...listenOptions, console: shared }
    listeners = await listenAll(endpoint, plan.listen, withConsole)
    views = await listenViews(router, plan.viewAddresses, listenOptions)
    const opsListener =
      typeof plan.metrics === 'string' ? await ops.listen(plan.metrics) : undefined
    await readyOrStopped(setup, router, stopped)
    if (signal.aborted) return exitCodes.ok
    const addresses = addressesIn(listeners)
    if (worker === undefined || (await worker.ready())) {
      reportStarted(setup, router, {
        addresses,
        views,
        ops: opsListener?.address,
        console: itsConsole,
      })
    }
    // After the banner, which shows the state of every server and has to stay visible.
    if (notesServers(invocation) && observer.log?.writes('warn')) notes.start(router.servers())
    const relisten = async (next: readonly string[]): Promise<void> => {
      const old = listeners
      listeners = await listenAll(endpoint, next, { ...withConsole, isAnyPort: false }, old)
      await closeAll(old, listeners)
    }
    setup.onStarted(reloaderOf(setup, running, relisten))
    await Promise.race([stdioEnded([...listeners.values()]), stopped])
    return exitCodes.ok
  } finally {
    notes.stop()
    // First of all, so that load balancers see it at every address.
    await ops.retire()
    await Promise.all([listeners, ...views.values()].map(each => closeAll(each)))
    await itsConsole?.close()
    await router.close({ drainMs: limits.drainMs.default })
    await access.close()
    await pins?.close()
    await cache?.close()
    await ops.close()
    await observer.close()
    sighup.stop()
  }
}

/** A router with its pins and its observer. */
interface RunningRouter {
  readonly router: Router
  readonly access: AccessControl
  readonly pins: PersistentPins | undefined
  readonly cache: ListCache | undefined
  readonly observer: ReturnType<typeof observe>
  /** What users grant; undefined if no server asks for that. */
  readonly grants: ServerGrants | undefined
  readonly logError: (error: unknown) => void
}

/** Creates the router, which starts its servers. Throws before that if pins or addresses cannot be used. */
async function startRouter(
  plan: Plan,
  { options, invocation, worker }: UpSetup,
): Promise<RunningRouter> {
  const pins = options.pins === undefined ? undefined : await openPinFile(options.pins)
  const cache = await openCache(plan, options, invocation)
  // Checked before any program is started: without an address there is no use for them.
  const fixed = [...plan.listen, ...Object.values(plan.viewAddresses).flat()]
  const isFirst = worker === undefined || worker.isFirst
  if (!plan.isAnyPort && isFirst) await checkFree(fixed, plan.tls)
  let log: Log | undefined
  const logError = (error: unknown): void => {
    log?.write('warn', errorMessage(error))
  }
  const access = await AccessControl.open(plan, {
    env: invocation.env,
    onError: logError,
    note: text => invocation.terminal.note(text),
  })
  const grants = await grantsOf(plan)
  const router = new Router({
    remembered: cache?.lists,
    onRemembered: () => cache?.save(),
    concurrentStarts: defaultStarts(availableParallelism()),
    ...plan.router,
    servers: grants?.apply(plan.servers) ?? plan.servers,
    policy: access.policy,
    audit: access.audit,
    pins: pins?.pins,
    onPinned: () => pins?.save(),
    onError: logError,
  })
  const logs = {
    level: plan.logLevel,
    reloads: logsReloads(),
    instances: !notesServers(invocation),
  }
  const observer = observe({ endpoint: router, logs, metrics: true, traces: true })
  log = observer.log
  access.start(router)
  return { router, access, pins, cache, observer, grants, logError }
}

/** Makes the pages on which users grant access; undefined if no server asks for that. */
async function grantsOf(plan: Plan): Promise<ServerGrants | undefined> {
  const isNeeded = Object.values(plan.servers).some(({ auth }) => isByUsers(auth))
  if (!isNeeded) return undefined
  const { ServerGrants } = await import('../access/server-grants.ts')
  return new ServerGrants(plan)
}

/** Opens the cache of lists; undefined for the demo, and if the user wants none. */
async function openCache(
  { servers }: Plan,
  { cache: path }: UpOptions,
  { input, env, terminal }: Invocation,
): Promise<ListCache | undefined> {
  if (path === false || (path === undefined && input.has('demo'))) return undefined
  const onProblem = (reason: string): void => terminal.note(`lists are not remembered: ${reason}`)
  const keys = Object.entries(servers).map(([name, its]) => definitionKey(name, its))
  return openListCache(path ?? defaultCachePath(env), keys, onProblem)
}

/** Whether the log reports configuration reloads. On a terminal the command prints readable notes instead. */
function logsReloads(): boolean {
  return process.stderr.isTTY !== true
}

/** Whether the command prints readable notes about servers. The log has every detail instead. */
function notesServers({ input }: Invocation): boolean {
  return process.stderr.isTTY === true && !input.has('verbose')
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

/** Where a router is served. */
interface Started {
  readonly addresses: readonly string[]
  readonly views: ViewListeners
  /** The separate address of metrics and health. */
  readonly ops: string | undefined
  readonly console: UpConsole | undefined
}

function addressesIn(listeners: ReadonlyMap<string, Listener>): readonly string[] {
  return Array.from(listeners.values(), ({ address }) => address)
}

/** Prints what is served: a banner, or with `--json` a document. */
function reportStarted(
  { invocation, options, plan, watch, devAuth }: UpSetup,
  router: Router,
  { addresses, views: viewListeners, ops: opsAddress, console: itsConsole }: Started,
): void {
  const { input, terminal } = invocation
  const views = Array.from(viewListeners, ([view, each]) => [view, addressesIn(each)] as const)
  if (input.has('json')) {
    // On stdio, stdout carries protocol messages.
    const more = views.length === 0 ? {} : { views: Object.fromEntries(views) }
    const dev = devAuth && { devAuth: { issuer: devAuth.issuer, users: devAuth.users } }
    const page = itsConsole && { console: itsConsole.report() }
    const report = { addresses, ...more, ...dev, ...page, servers: router.servers() }
    if (!addresses.includes('stdio:')) terminal.json(report)
    return
  }
  const opsBase = opsAddress ?? addresses.find(one => /^https?:/.test(one))
  const ops = opsBase && new URL('/readyz', opsBase).href
  const example = watch === undefined ? 'text__count text="one two three"' : undefined
  const hasSearch = plan.router.toolSearch !== undefined
  const info = {
    router,
    addresses,
    view: plan.view,
    views,
    hasSearch,
    ops,
    workers: options.workers,
    console: itsConsole?.link(),
  }
  const login = devAuth && { devAuth: devAuthText(devAuth) }
  printBanner(terminal, { ...info, ...login, program: programName(), example })
}

function reloaderOf(
  { invocation, options, worker }: UpSetup,
  { router, access, observer, grants }: RunningRouter,
  relisten: (addresses: readonly string[]) => Promise<void>,
): ConfigReloader {
  const { log } = observer
  return new ConfigReloader({
    router,
    terminal: invocation.terminal,
    options,
    log,
    // The other workers would print the same as the first one.
    isLogged: level => (worker?.number ?? 1) > 1 || (logsReloads() && log?.writes(level) === true),
    usePolicy: policy => access.use(policy),
    withGrants: servers => withGrants(grants, servers),
    relisten,
  })
}

/** Returns servers with their credentials. Throws a UsageError if these need pages that the router does not serve. */
function withGrants(grants: ServerGrants | undefined, servers: Plan['servers']): Plan['servers'] {
  if (grants !== undefined) return grants.apply(servers)
  const [name] = Object.entries(servers).find(([, { auth }]) => isByUsers(auth)) ?? []
  if (name === undefined) return servers
  throw new UsageError(
    `server "${name}": the router serves no pages on which users grant access; restart it`,
  )
}

/** Settles when every stdio listener has ended; never if there is none. */
function stdioEnded(listeners: readonly Listener[]): Promise<unknown> {
  const stdio = listeners.filter(({ address }) => address === 'stdio:')
  return stdio.length === 0 ? new Promise(() => {}) : Promise.all(stdio.map(one => one.ended))
}

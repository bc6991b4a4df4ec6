import { access, constants } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { Ops } from '../../observe/health/health.ts'
import { observe } from '../../observe/observe.ts'
import { sessionsOf } from '../../observe/observed.ts'
import { ConfigError, describeIssue } from '../../router/config/issue.ts'
import { Router } from '../../router/router.ts'
import type { Listener } from '../../transport/listener.ts'
import { errorWords } from '../../util/error-words.ts'
import { limits } from '../../util/limits/limits.ts'
import { asked, exitCodes, UsageError } from '../exit.ts'
import type { Invocation, Run } from '../invocation.ts'
import { findConfig } from '../target/config-file.ts'
import { harmless, oneLine, type Terminal } from '../terminal.ts'
import { announce, noteLate } from '../up/banner.ts'
import { checkFree, closeAll, listenAll } from '../up/listeners.ts'
import { KeptPins, type KeptPinsHost } from '../up/pin-file.ts'
import { demoPlan, type Plan, planOf, type Wishes } from '../up/plan.ts'
import { Reloads } from '../up/reload.ts'
import { heedHangups } from '../up/sighup.ts'
import { type ConfigWatch, watchConfig } from '../watch/config-watch.ts'

/** Puts the servers of a configuration behind one address, until it is told to stop. */
export const run: Run = async invocation => {
  const { input, terminal, env } = invocation
  const wishes = wishesOf(invocation)
  const [given] = input.operands
  const path = await configPath(given, input.has('demo'))
  let reloads: Reloads | undefined
  const watch =
    path === undefined
      ? undefined
      : await watchConfig(path, {
          env,
          // Then the addresses of the file are not served, or everybody may come in.
          mayBePublic: wishes.isPublic || wishes.listen.length > 0,
          onChange: outcome => reloads?.take(outcome),
        })
  try {
    for (const warning of watch?.config.warnings ?? []) {
      terminal.note(describeIssue(warning, path))
    }
    const config = watch?.config
    const plan = await asked(() =>
      config === undefined ? demoPlan(ownProgram(), wishes) : planOf(config, wishes),
    )
    if (input.has('dry-run')) return foretold(invocation, plan, path)
    return await serve(invocation, plan, wishes, watch, started => {
      reloads = started
      if (config === undefined) return
      started.begin(config)
      // The file may have changed while the servers were started.
      if (watch !== undefined && watch.config !== config) void started.take(watch.config)
    })
  } finally {
    await watch?.close()
  }
}

async function serve(
  invocation: Invocation,
  plan: Plan,
  wishes: Wishes,
  watch: ConfigWatch | undefined,
  onStarted: (reloads: Reloads) => void,
): Promise<number> {
  const { terminal, signal } = invocation
  const complain = (error: unknown): void => {
    observer?.log?.write('warn', errorWords(error))
  }
  const pinned = wishes.pins === undefined ? undefined : await pinsIn(wishes.pins)
  // Before any program is started: one that cannot be served is not to be started for nothing.
  if (!plan.isAnyPort) await checkFree(plan.listen)
  const router = new Router({
    ...plan.router,
    servers: plan.servers,
    pins: pinned?.pins,
    onPinned: () => pinned?.save(),
    onError: complain,
  })
  // At a terminal people are told in their words, and elsewhere programs in those of the log.
  const reloads = process.stderr.isTTY !== true
  const logs = { level: plan.logLevel, reloads }
  const observer = observe({ endpoint: router, logs, metrics: true, traces: true })
  const { log } = observer
  // The same, telling of the connections of callers.
  const served = sessionsOf(router)
  let listeners: ReadonlyMap<string, Listener> = new Map()
  const hangups = heedHangups(() => {
    watch?.check()
    // Whoever asks has looked, which is what those that were put away wait for.
    for (const { name } of router.servers()) router.retry(name)
  })
  try {
    await pinned?.follow(keptPinsHost(router, terminal))
    // Whether it is well can always be asked, also where the figures are elsewhere or nowhere.
    const ops = plan.metrics === true ? observer.ops : new Ops({ health: () => router.health() })
    const { isAnyPort } = plan
    listeners = await listenAll(served, plan.listen, { ops, isAnyPort, onError: complain })
    const apart = typeof plan.metrics === 'string' ? await observer.listen(plan.metrics) : undefined
    const slow = setTimeout(() => noteLate(terminal, router, plan.listen), slowMs)
    await Promise.race([router.ready(), aborted(signal), hangups.terminalGone])
    clearTimeout(slow)
    if (signal.aborted) return exitCodes.ok
    const addresses = Array.from(listeners.values(), ({ address }) => address)
    const example = watch === undefined ? 'text__count text="one two three"' : undefined
    tellStarted(invocation, { router, addresses, opsAt: apart?.address, example })
    const reloading = new Reloads({
      router,
      terminal,
      wishes,
      log,
      isToldByLog: level => reloads && log?.writes(level) === true,
      relisten: async next => {
        const how = { ops, isAnyPort: false, onError: complain }
        const old = listeners
        listeners = await listenAll(served, next, how, old)
        await closeAll(old, listeners)
      },
    })
    onStarted(reloading)
    await Promise.race([ended([...listeners.values()]), aborted(signal), hangups.terminalGone])
    return exitCodes.ok
  } finally {
    await closeAll(listeners)
    await router.close({ drainMs: limits.drainMs.default })
    await pinned?.close()
    await observer.close()
    hangups.stop()
  }
}

const slowMs = limits.upNoticeMs.default

interface Started {
  readonly router: Router
  readonly addresses: readonly string[]
  /** Where health and metrics have an address of their own. */
  readonly opsAt: string | undefined
  /** A call to try. */
  readonly example: string | undefined
}

/** Says what is served, for people or for programs. */
function tellStarted({ input, terminal }: Invocation, started: Started): void {
  const { router, addresses, example } = started
  if (input.has('json')) {
    // On stdio, stdout is the wire.
    if (!addresses.includes('stdio:')) terminal.json({ addresses, servers: router.servers() })
    return
  }
  const opsAt = started.opsAt ?? addresses.find(one => one.startsWith('http:'))
  const ops = opsAt && new URL('/readyz', opsAt).href
  announce(terminal, { router, addresses, ops, program: spelled(), example })
}

/** The pins of a file. Throws a UsageError where they could not be kept there. */
async function pinsIn(path: string): Promise<KeptPins> {
  const folder = dirname(resolve(path))
  await access(folder, constants.W_OK).catch(cause => {
    throw new UsageError(`--pins ${path}: nothing can be written in ${folder}`, { cause })
  })
  const pins = new KeptPins(path)
  await pins.load()
  return pins
}

/** Says what would be served. */
function foretold({ input, terminal }: Invocation, plan: Plan, file: string | undefined): number {
  const servers = Object.entries(plan.servers)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name]) => name)
  if (input.has('json')) terminal.json({ file, addresses: plan.listen, servers })
  else {
    terminal.line(`${file ?? 'without a configuration'}: nothing is wrong`)
    terminal.line(`Would serve ${plan.listen.join(', ')}`)
    for (const name of servers) terminal.line(`  ${name}`)
  }
  return exitCodes.ok
}

/** What becomes of the file of pins, told on stderr. */
function keptPinsHost(router: Router, terminal: Terminal): KeptPinsHost {
  return {
    adopt: (file, removed) => router.importPins(file, { removed }),
    onApproved: approved => {
      for (const { server, tool } of approved) {
        const name = oneLine(`${server}/${tool}`, 200)
        if (router.pins.changeOf(server, tool) === undefined) terminal.note(`approved ${name}`)
        else terminal.complain(`${name} has changed again since it was approved; look once more`)
      }
    },
    onRemoved: removed => {
      for (const { server, tool } of removed) {
        const name = oneLine(`${server}/${tool}`, 200)
        terminal.note(`forgot how ${name} was: it is pinned anew, as it is listed`)
      }
    },
    onError: error => {
      const why = errorWords(error)
      terminal.complain(`the pins stay as they were: ${harmless(why)}`)
    },
  }
}

function wishesOf({ input }: Invocation): Wishes {
  return {
    listen: input.values('listen'),
    metrics: input.value('metrics'),
    logLevel: input.value('log-level'),
    pins: input.value('pins'),
    isPublic: input.has('public'),
  }
}

/** The file to read; undefined where there is none and none was named, or the demo is wanted. */
async function configPath(given: string | undefined, isDemo: boolean): Promise<string | undefined> {
  if (isDemo) return undefined
  try {
    return await findConfig(given)
  } catch (error) {
    if (given !== undefined || !(error instanceof ConfigError)) throw error
    return undefined
  }
}

/** What starts this program again. */
function ownProgram(): readonly string[] {
  return [process.execPath, process.argv[1] ?? '']
}

/** The same as somebody would type it here. */
function spelled(): string {
  const file = process.argv[1] ?? ''
  // As npx starts it, or a script of a package: it is on nobody's path.
  if (/[\\/]node_modules[\\/]\.bin[\\/]/.test(file)) return 'npx trunkline'
  if (!file.endsWith('.js')) return 'trunkline'
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? 'trunkline' : `node ${path}`
}

function ended(listeners: readonly Listener[]): Promise<unknown> {
  const stdio = listeners.filter(({ address }) => address === 'stdio:')
  return stdio.length === 0 ? new Promise(() => {}) : Promise.all(stdio.map(one => one.ended))
}

/** Being told to stop is how this command ends well. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

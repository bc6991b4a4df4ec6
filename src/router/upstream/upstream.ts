import type { Client } from '../../client/client.ts'
import { type ListKind, listKinds } from '../../mcp/list-changes.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { timed } from '../../util/time/deadline.ts'
import { Traffic } from '../../util/traffic.ts'
import type { InvalidEntry } from '../catalog/entry-check.ts'
import { type Lists, noLists, type ReadList } from '../catalog/lists.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { UpstreamOptions } from '../options.ts'
import { Instance } from './instance.ts'
import { FirstLists } from './lists/first-lists.ts'
import { ListWatchers } from './lists/list-watchers.ts'
import { type ListProblem, ServerLists } from './lists/server-lists.ts'
import { type InstanceTarget, targetsOf } from './target.ts'
import type { InstanceEvent, UpstreamHost } from './upstream-host.ts'

/** An upstream server: its instances, and its features. */
export class Upstream {
  readonly name: string
  /** Settles when each instance was connected once, or has failed to, or was stopped. Never rejects. */
  readonly tried: Promise<void>
  readonly instances: readonly Instance[]
  /** Whether the router has no credentials of its own for this server, so that only callers can read its lists. */
  readonly isUnlisted: boolean
  /** Counts the bytes and messages of all its connections. */
  readonly traffic = new Traffic()
  readonly #host: UpstreamHost
  #options: UpstreamOptions
  /** Settled when an instance was connected once, or has failed to, by the key of the instance. */
  readonly #tries: ReadonlyMap<string, Deferred<void>>
  readonly #firstLists: FirstLists
  readonly #watchers: ListWatchers<Instance>
  readonly #lists = new ServerLists<Instance>(() => this.instances)
  readonly #waiting = new Set<() => void>()
  #server: Client['server'] | undefined
  /** The instances whose first connection has neither been opened nor failed. */
  readonly #untried: Set<string>
  /** Whether it will be started when it is used. */
  #isIdle = false
  readonly #grace = timed(() => this.#hide())
  /** Starts a process whose lists are remembered: callers get them first, before programs that start take the processor. */
  readonly #late = timed(() => this.use())
  #isStopping = false
  readonly #unfollow: (() => void) | undefined

  /** Throws a TypeError for options that name no server. */
  constructor(name: string, options: UpstreamOptions, host: UpstreamHost) {
    this.name = name
    this.#options = options
    this.#host = host
    const targets = targetsOf(name, options, event => host.onAuthorization(event))
    this.isUnlisted = targets.some(({ callers }) => callers?.isUnlisted === true)
    this.#firstLists = new FirstLists(host.clock)
    this.#watchers = this.#makeWatchers()
    this.#tries = new Map(targets.map(({ key }) => [key, deferred<void>()]))
    this.#untried = new Set(this.#tries.keys())
    const tries = Array.from(this.#tries.values(), ({ promise }) => promise)
    this.tried = Promise.all(tries).then(() => {})
    this.instances = targets.map(target => this.#makeInstance(target))
    this.#unfollow = options.server?.personalLists?.onChange((kind, principal) =>
      host.onPersonalChange(kind, principal),
    )
    const memory = host.recall(name, options)
    if (memory === undefined) return
    this.#lists.recall(memory.lists)
    this.#server = { name, version: '', ...memory }
    for (const kind of listKinds) if (this.hasListed(kind)) this.#firstLists.listed(kind)
  }

  /** The current options. */
  get options(): UpstreamOptions {
    return this.#options
  }

  /** Applies the options that can change without reconnecting. */
  adjust(options: UpstreamOptions): void {
    this.#options = options
    if (options.start !== 'first-use') this.use()
    for (const instance of this.instances) {
      const { breaker } = instance
      instance.adjust(options)
      // A replaced breaker is reported as closed: it reports nothing any more.
      if (instance.breaker !== breaker) breaker?.reset()
    }
  }

  /**
   * The lists of its first instance whose lists were all read, or else what is known of each list; empty
   * once no instance was connected for `upstreamGraceMs`.
   */
  get lists(): Lists {
    return this.#lists.shown
  }

  /** The lists of each of its instances. */
  get allLists(): ReadonlyMap<Instance, Lists> {
    return this.#lists.all
  }

  /** The entries that its instances listed and that callers do not see, because they are invalid. */
  get invalidEntries(): readonly InvalidEntry[] {
    return this.#lists.invalid
  }

  /** The lists that could not be read from instances that are connected. */
  get listProblems(): readonly ListProblem[] {
    return this.#lists.problems
  }

  /**
   * Returns whether calls may go to an instance: where changed tools are blocked, only after its tools were
   * read.
   */
  isKnown(instance: Instance): boolean {
    if (this.#options.tools?.pin !== 'block') return true
    const lists = this.#lists.all.get(instance)
    return lists !== undefined && lists.tools !== noLists.tools
  }

  /** The first instance that is connected. */
  get ready(): Instance | undefined {
    return this.instances.find(({ first }) => first !== undefined)
  }

  /** What the server said about itself when an instance was last connected. */
  get server(): Client['server'] | undefined {
    return this.#server
  }

  /** Why it takes no calls, in one line, for the operator; undefined if it takes calls. */
  get problem(): string | undefined {
    if (this.ready !== undefined) return undefined
    return this.instances.find(({ reason }) => reason !== undefined)?.reason ?? 'it is starting'
  }

  /** Why it takes no calls, in one line, for callers; undefined if it takes calls. */
  get unavailableReason(): string | undefined {
    if (this.ready !== undefined) return undefined
    const instance = this.instances.find(one => one.unavailableReason !== undefined)
    return instance?.unavailableReason
  }

  /** Its lists when an instance was last connected, however long ago. */
  get known(): Lists {
    return this.#lists.known
  }

  /** Starts it, now or when it is used, as its options say. */
  start(): void {
    this.#isIdle = true
    if (this.#options.start === 'first-use')
      for (const { resolve } of this.#tries.values()) resolve()
    else if (!this.isRemembered || this.#options.command === undefined) this.use()
    else this.#host.deadlines.start(this.#late, limits.rememberedStartMs.default)
  }

  /** Must be called before it is used: starts it where that has not been done. */
  use(): void {
    if (!this.#isIdle) return
    this.#isIdle = false
    this.#host.deadlines.stop(this.#late)
    if (this.#startWaitMs !== undefined) this.#firstLists.start(this.#startWaitMs)
    for (const instance of this.instances) instance.start()
  }

  /** Whether one of its instances is being connected now. */
  get isStarting(): boolean {
    return this.instances.some(({ state }) => state === 'starting')
  }

  /** Whether one of its instances is connected, or will be without intervention of an operator. */
  get isComing(): boolean {
    return this.instances.some(({ state }) => state !== 'quarantined' && state !== 'stopped')
  }

  /**
   * Settles when a list was read for the first time, or is not waited for any longer: reading it or the
   * first attempt to connect has failed, or the time is over. Undefined once that is so.
   */
  whenListed(kind: ListKind): Promise<void> | undefined {
    const listed = this.#firstLists.whenListed(kind)
    if (listed !== undefined) this.use()
    return listed
  }

  /** Returns whether the lists of this kind were read at least once. */
  hasListed(kind: ListKind): boolean {
    return this.known[kind] !== noLists[kind]
  }

  /** Whether callers see different entries in its lists of this kind: a server of this process says so. */
  isPersonal(kind: ListKind): boolean {
    if (this.isUnlisted) return true
    return this.#options.server?.personalLists?.has(kind) ?? false
  }

  /** How long a call waits for an instance that is starting. */
  get waitMs(): number {
    if (this.#startWaitMs !== undefined) return this.#startWaitMs
    const isFirst = this.#untried.size > 0
    return isFirst ? connectTimeoutOf(this.#options) : limits.upstreamWaitMs.default
  }

  /** Whether callers see tools of an earlier run, because those of this run have not been read. */
  get isRemembered(): boolean {
    return this.#lists.isRecalled
  }

  get #startWaitMs(): number | undefined {
    return this.#options.startWaitMs ?? this.#host.startWaitMs
  }

  /** Settles when an instance may have become available, or after `withinMs`. */
  nextReady(withinMs: number): Promise<void> {
    const { clock } = this.#host
    return new Promise(resolve => {
      const finish = (): void => {
        clock.stop(timer)
        this.#waiting.delete(finish)
        resolve()
      }
      const timer = clock.start(finish, withinMs)
      this.#waiting.add(finish)
    })
  }

  /** Must be called when callers have subscribed to other resources. */
  updateSubscriptions(): void {
    this.#watchers.updateSubscriptions()
  }

  /**
   * Settles when its instances have confirmed or refused the resources that callers are subscribed to. If
   * none is connected, settles then, or after `withinMs`. Never rejects.
   */
  async whenSubscribed(withinMs: number): Promise<void> {
    this.use()
    if (this.#watchers.size === 0) await this.nextReady(withinMs)
    await this.#watchers.whenSubscribed()
  }

  /** Stops it for good, after at most `drainMs` in which calls in flight complete. Never rejects. */
  async stop(drainMs = 0): Promise<void> {
    this.#isStopping = true
    this.#isIdle = false
    this.#unfollow?.()
    this.#host.deadlines.stop(this.#grace)
    this.#host.deadlines.stop(this.#late)
    this.#watchers.stopAll()
    await Promise.all(this.instances.map(instance => instance.stop(drainMs)))
    for (const instance of this.instances) this.#host.onInstance(instance, { type: 'stopped' })
    for (const { resolve } of this.#tries.values()) resolve()
    this.#wakeAll()
  }

  #makeInstance(target: InstanceTarget): Instance {
    const host = this.#host
    const report = (instance: Instance, event: InstanceEvent): void => {
      if (!this.#isStopping) host.onInstance(instance, event)
    }
    return new Instance(target, this.#options, {
      clock: host.clock,
      deadlines: host.deadlines,
      client: host.client,
      attributionTimeoutMs: host.attributionTimeoutMs,
      connectTimeoutMs: connectTimeoutOf(this.#options),
      enter: signal => this.#enter(signal),
      traffic: this.traffic,
      prepare: (instance, connection) => this.#prepare(instance, connection),
      isAlone: instance => this.instances.every(one => one === instance || !one.isReady),
      onReady: instance => {
        host.deadlines.stop(this.#grace)
        report(instance, { type: 'ready' })
        // An unlisted resource is one of the only server that has resources, which it may be now.
        this.updateSubscriptions()
        this.#settle(instance)
      },
      onDown: (instance, cause, isNewReason) => {
        this.#onDown(instance)
        this.#onTried(instance)
        if (isNewReason) report(instance, { type: 'down', cause })
      },
      onRestart: (instance, attempt, delayMs) =>
        report(instance, { type: 'restart', attempt, delayMs }),
      onQuarantined: (instance, reason) => {
        if (this.ready === undefined) this.#hide()
        this.#onTried(instance)
        report(instance, { type: 'quarantined', reason })
      },
      onMissed: instance => report(instance, { type: 'missed' }),
      onBreaker: (instance, from, to, why) => report(instance, { type: 'breaker', from, to, why }),
      onAvailability: () => this.#wakeAll(),
      onNotification: (_, method, params) => host.onNotification(method, params),
    })
  }

  #makeWatchers(): ListWatchers<Instance> {
    const host = this.#host
    return new ListWatchers({
      timeoutMs: () => connectTimeoutOf(this.#options),
      deadlines: host.deadlines,
      subscribed: () => host.subscribed(),
      hasTools: () => this.lists.tools !== noLists.tools && !this.isRemembered,
      onRead: (instance, kind, read) => this.#onRead(instance, kind, read),
      onSubscribed: uris => host.onSubscribed(uris),
      onUpdated: uri => host.onUpdated(uri),
    })
  }

  /** Watches the lists of an instance. Settles when the instance can take calls. */
  #prepare(instance: Instance, { client }: UpstreamConnection): Promise<void> {
    const isNew = !isSameDescription(this.#server, client.server)
    this.#server = client.server
    if (isNew) this.#host.onDescribed()
    return this.#watchers.watch(instance, client)
  }

  /** Waits for the turn of a process to start. Only then begins the time in which callers wait for it. */
  async #enter(signal: AbortSignal): Promise<() => void> {
    const isProcess = this.#options.command !== undefined
    const leave = isProcess ? await this.#host.startGate.enter(signal) : () => {}
    this.#firstLists.start(connectTimeoutOf(this.#options))
    return leave
  }

  #onRead(instance: Instance, kind: ListKind, read: ReadList): void {
    const host = this.#host
    if (Object.keys(read.lists).length > 0) host.deadlines.stop(this.#grace)
    const { kinds, failed, recovered } = this.#lists.read(instance, kind, read)
    host.onLists(instance, kinds)
    if (read.lists.tools !== undefined) host.onTools(instance)
    for (const problem of failed) host.onListFailed(instance, problem)
    for (const method of recovered) host.onListRecovered(instance, method)
    this.#settle(instance)
  }

  #onTried({ key }: Instance): void {
    this.#tries.get(key)?.resolve()
    this.#untried.delete(key)
    if (this.#untried.size === 0) this.#firstLists.end()
  }

  /** Ends the waits for an instance, and for those of its lists that were read or have failed. */
  #settle(instance: Instance): void {
    const kinds = this.#watchers.readKinds(instance)
    if (kinds === undefined || instance.first === undefined) return
    for (const kind of kinds) this.#firstLists.listed(kind)
    if (kinds.size === listKinds.length) this.#onTried(instance)
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const finish of [...this.#waiting]) finish()
  }

  #onDown(instance: Instance): void {
    this.#watchers.stop(instance)
    this.#wakeAll()
    if (this.ready === undefined) {
      for (const one of this.instances) one.hurry(limits.restartAloneMs.default)
    }
    const kinds = this.#lists.lose(instance)
    if (this.#isStopping) return
    if (this.#lists.all.size > 0) this.#host.onLists(instance, kinds ?? [])
    else if (kinds !== undefined || this.isRemembered) {
      this.#host.deadlines.stop(this.#grace)
      this.#host.deadlines.start(this.#grace, limits.upstreamGraceMs.default)
    }
  }

  /** Removes its lists, because no instance was connected for `upstreamGraceMs`. */
  #hide(): void {
    if (this.#lists.all.size > 0 || this.ready !== undefined) return
    const kinds = this.#lists.hide()
    const [instance] = this.instances
    if (instance !== undefined) this.#host.onLists(instance, kinds)
  }
}

/** Whether two descriptions of a server mean the same for what callers see of its tools. */
function isSameDescription(one: Client['server'] | undefined, other: Client['server']): boolean {
  return (
    one?.revision === other.revision &&
    JSON.stringify(one.capabilities) === JSON.stringify(other.capabilities)
  )
}

/** Returns how long connecting may take: a program may have to be downloaded first, as by `npx`. */
export function connectTimeoutOf({ connectTimeoutMs, command }: UpstreamOptions): number {
  if (connectTimeoutMs !== undefined) return connectTimeoutMs
  return command === undefined ? limits.upstreamConnectMs.default : limits.processConnectMs.default
}

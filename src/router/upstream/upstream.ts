import type { ClientOptions } from '../../client/options.ts'
import type { Members } from '../../mcp/types/base.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import type { Clock } from '../../util/time/clock.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import { Traffic } from '../../util/traffic.ts'
import { type ListKind, type Lists, listKinds, noLists } from '../catalog/lists.ts'
import type { UpstreamOptions } from '../options.ts'
import type { BreakerState } from '../policy/breaker.ts'
import { Instance } from './instance.ts'
import { ListWatcher } from './list-watcher.ts'
import { targetsOf } from './target.ts'

/** What an upstream server needs from its router, and what it reports. */
export interface UpstreamHost {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly client: ClientOptions
  /** How long an ambiguous server request is held until it can be attributed; 0 rejects it at once. */
  readonly attributionTimeoutMs: number
  /** The resources that callers are subscribed to. Called whenever a connection is opened. */
  subscribed(): Iterable<string>
  /** An instance was started, lost or stopped, or its state changed. */
  onInstance(upstream: Upstream, instance: Instance, event: InstanceEvent): void
  /** The lists of an instance were read, or it was lost; `kinds` are the lists that changed for callers. */
  onLists(upstream: Upstream, instance: Instance, kinds: readonly ListKind[]): void
  onUpdated(upstream: Upstream, uri: string): void
  onNotification(upstream: Upstream, method: string, params: Members | undefined): void
  onError(error: unknown): void
}

/** An event in the life of an instance. */
export type InstanceEvent =
  | { readonly type: 'ready' | 'stopped' }
  | { readonly type: 'down'; readonly cause: Error | undefined }
  | { readonly type: 'restart'; readonly attempt: number; readonly delayMs: number }
  | { readonly type: 'quarantined'; readonly reason: string }
  | {
      readonly type: 'breaker'
      readonly from: BreakerState
      readonly to: BreakerState
      readonly why: string
    }

/** An upstream server: its instances, and its features. */
export class Upstream {
  readonly name: string
  /** Settles when each instance was connected once, or has failed to, or was stopped. Never rejects. */
  readonly tried: Promise<void>
  readonly instances: readonly Instance[]
  /** Counts the bytes and messages of all its connections. */
  readonly traffic = new Traffic()
  readonly #host: UpstreamHost
  #options: UpstreamOptions
  readonly #triedOnce: readonly Deferred<void>[]
  readonly #watchers = new Map<Instance, ListWatcher>()
  readonly #lists = new Map<Instance, Lists>()
  readonly #waiting = new Set<() => void>()
  /** The lists of the last instance that was lost, until `upstreamGraceMs` have passed. */
  #last: Lists = noLists
  #known: Lists = noLists
  readonly #grace = timed(() => this.#hide())
  #isStopping = false

  /** Throws a TypeError for options that name no server. */
  constructor(name: string, options: UpstreamOptions, host: UpstreamHost) {
    this.name = name
    this.#options = options
    this.#host = host
    const targets = targetsOf(name, options).map(target => ({ target, tried: deferred<void>() }))
    this.#triedOnce = targets.map(({ tried }) => tried)
    this.tried = Promise.all(this.#triedOnce.map(({ promise }) => promise)).then(() => {})
    this.instances = targets.map(({ target, tried }) =>
      this.#makeInstance(target, () => tried.resolve()),
    )
  }

  /** The current options. */
  get options(): UpstreamOptions {
    return this.#options
  }

  /** Applies the options that can change without reconnecting. */
  adjust(options: UpstreamOptions): void {
    this.#options = options
    for (const instance of this.instances) {
      const { breaker } = instance
      instance.adjust(options)
      // A replaced breaker is reported as closed: it reports nothing any more.
      if (instance.breaker !== breaker) breaker?.reset()
    }
  }

  /**
   * The lists of its first instance whose lists were all read; empty once no instance was connected for
   * `upstreamGraceMs`.
   */
  get lists(): Lists {
    let some: Lists | undefined
    for (const instance of this.instances) {
      const lists = this.#lists.get(instance)
      if (lists !== undefined && isWhole(lists)) return lists
      some ??= lists
    }
    return some ?? this.#last
  }

  /** The lists of each of its instances. */
  get allLists(): ReadonlyMap<Instance, Lists> {
    return this.#lists
  }

  /**
   * Returns whether calls may go to an instance: where changed tools are blocked, only after its tools were
   * read.
   */
  isKnown(instance: Instance): boolean {
    if (this.#options.tools?.pin !== 'block') return true
    const lists = this.#lists.get(instance)
    return lists !== undefined && lists.tools !== noLists.tools
  }

  /** The first instance that is connected. */
  get ready(): Instance | undefined {
    return this.instances.find(({ first }) => first !== undefined)
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
    return this.#known
  }

  start(): void {
    for (const instance of this.instances) instance.start()
  }

  /** Settles when an instance becomes ready, or after `withinMs`. */
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
    for (const watcher of this.#watchers.values()) watcher.updateSubscriptions()
  }

  /** Stops it for good, after at most `drainMs` in which calls in flight complete. Never rejects. */
  async stop(drainMs = 0): Promise<void> {
    this.#isStopping = true
    this.#host.deadlines.stop(this.#grace)
    for (const watcher of this.#watchers.values()) watcher.stop()
    await Promise.all(this.instances.map(instance => instance.stop(drainMs)))
    for (const instance of this.instances)
      this.#host.onInstance(this, instance, { type: 'stopped' })
    for (const { resolve } of this.#triedOnce) resolve()
    this.#wakeAll()
  }

  #makeInstance(target: ConstructorParameters<typeof Instance>[0], onTried: () => void): Instance {
    const host = this.#host
    const report = (instance: Instance, event: InstanceEvent): void => {
      if (!this.#isStopping) host.onInstance(this, instance, event)
    }
    return new Instance(target, this.#options, {
      clock: host.clock,
      deadlines: host.deadlines,
      client: host.client,
      attributionTimeoutMs: host.attributionTimeoutMs,
      connectTimeoutMs: connectTimeoutOf(this.#options),
      traffic: this.traffic,
      onReady: instance => {
        this.#onReady(instance, onTried)
        report(instance, { type: 'ready' })
      },
      onDown: (instance, cause) => {
        this.#onDown(instance)
        onTried()
        report(instance, { type: 'down', cause })
      },
      onRestart: (instance, attempt, delayMs) =>
        report(instance, { type: 'restart', attempt, delayMs }),
      onQuarantined: (instance, reason) => {
        if (this.ready === undefined) this.#hide()
        report(instance, { type: 'quarantined', reason })
      },
      onBreaker: (instance, from, to, why) => report(instance, { type: 'breaker', from, to, why }),
      onNotification: (_, method, params) => host.onNotification(this, method, params),
    })
  }

  #onReady(instance: Instance, onTried: () => void): void {
    const { first } = instance
    if (first === undefined) return
    const host = this.#host
    const watcher = new ListWatcher(first.client, {
      timeoutMs: connectTimeoutOf(this.#options),
      deadlines: host.deadlines,
      subscribed: () => host.subscribed(),
      onLists: lists => {
        host.deadlines.stop(this.#grace)
        const before = this.lists
        this.#lists.set(instance, { ...(this.#lists.get(instance) ?? noLists), ...lists })
        this.#known = this.lists
        onTried()
        host.onLists(this, instance, changedKinds(before, this.lists))
        this.#wakeAll()
      },
      onUpdated: uri => host.onUpdated(this, uri),
      onError: error => {
        onTried()
        host.onError(error)
      },
    })
    this.#watchers.set(instance, watcher)
    watcher.start()
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const finish of [...this.#waiting]) finish()
  }

  #onDown(instance: Instance): void {
    this.#watchers.get(instance)?.stop()
    this.#watchers.delete(instance)
    const { lists } = this
    if (!this.#lists.delete(instance) || this.#isStopping) return
    if (this.#lists.size > 0) {
      this.#host.onLists(this, instance, changedKinds(lists, this.lists))
      return
    }
    this.#last = lists
    this.#host.deadlines.start(this.#grace, limits.upstreamGraceMs.default)
  }

  /** Removes its lists, because no instance was connected for `upstreamGraceMs`. */
  #hide(): void {
    if (this.#lists.size > 0 || this.#last === noLists) return
    const kinds = changedKinds(this.#last, noLists)
    this.#last = noLists
    const [instance] = this.instances
    if (instance !== undefined) this.#host.onLists(this, instance, kinds)
  }
}

/** Returns whether all of the lists were read. */
function isWhole(lists: Lists): boolean {
  return members.every(member => lists[member] !== noLists[member])
}

const members = ['tools', 'prompts', 'resources', 'templates'] as const

/** Returns the kinds whose lists differ. After a reconnect there is often no difference. */
function changedKinds(before: Lists, now: Lists): readonly ListKind[] {
  const isSame = (member: keyof Lists): boolean =>
    before[member] === now[member] || JSON.stringify(before[member]) === JSON.stringify(now[member])
  return listKinds.filter(kind =>
    kind === 'resources' ? !isSame('resources') || !isSame('templates') : !isSame(kind),
  )
}

/** Returns how long connecting may take: a program may have to be downloaded first, as by `npx`. */
export function connectTimeoutOf({ connectTimeoutMs, command }: UpstreamOptions): number {
  if (connectTimeoutMs !== undefined) return connectTimeoutMs
  return command === undefined ? limits.upstreamConnectMs.default : limits.processConnectMs.default
}

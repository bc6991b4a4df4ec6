import type { ClientOptions } from '../../client/options.ts'
import type { Members } from '../../mcp/types/base.ts'
import { type Deferred, deferred } from '../../util/deferred.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import { Traffic } from '../../util/traffic.ts'
import { type ListKind, type Lists, listKinds, noLists } from '../catalog/lists.ts'
import type { UpstreamOptions } from '../options.ts'
import type { BreakerState } from '../policy/breaker.ts'
import { Instance } from './instance.ts'
import { Follower } from './list-watcher.ts'
import { targetsOf } from './target.ts'

/** What a server behind the router is made with, and whom it tells. */
export interface UpstreamHost {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly client: ClientOptions
  /** How long a question waits until it is clear whose it is. */
  readonly doubtMs: number
  /** The resources that somebody wants to hear of; asked whenever a connection is made. */
  wanted(): Iterable<string>
  /** An instance has come, gone or changed its state. */
  onInstance(upstream: Upstream, instance: Instance, event: InstanceEvent): void
  /** The lists of an instance were read, or it is gone; `kinds` are those that callers see changed. */
  onLists(upstream: Upstream, instance: Instance, kinds: readonly ListKind[]): void
  onUpdated(upstream: Upstream, uri: string): void
  onNews(upstream: Upstream, method: string, params: Members | undefined): void
  onError(error: unknown): void
}

/** What has become of an instance. */
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

/** One server behind the router: its instances, and what it offers. */
export class Upstream {
  readonly name: string
  /** Settles when each of its instances has been opened once, or could not or will not be. Never rejects. */
  readonly tried: Promise<void>
  readonly instances: readonly Instance[]
  /** How much has come and gone over the connections of all of them. */
  readonly traffic = new Traffic()
  readonly #host: UpstreamHost
  #options: UpstreamOptions
  readonly #triedOnce: readonly Deferred<void>[]
  readonly #followers = new Map<Instance, Follower>()
  readonly #lists = new Map<Instance, Lists>()
  readonly #waiting = new Set<() => void>()
  /** What it offered when it was last there, while that is not long ago. */
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

  /** Those that hold now. */
  get options(): UpstreamOptions {
    return this.#options
  }

  /** Other options from now on, as far as they can change without connecting anew. */
  adjust(options: UpstreamOptions): void {
    this.#options = options
    for (const instance of this.instances) {
      const { breaker } = instance
      instance.adjust(options)
      // One that is replaced is told to be closed: nobody hears of it any more.
      if (instance.breaker !== breaker) breaker?.reset()
    }
  }

  /**
   * What it offers, by the first of its instances that is there and of which all is known; nothing where
   * none is for a while.
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

  /** What each of its instances offers. */
  get allLists(): ReadonlyMap<Instance, Lists> {
    return this.#lists
  }

  /**
   * Whether what an instance offers is known well enough for calls to go there: where a changed tool is
   * not to be called, nothing is before somebody has looked.
   */
  isKnown(instance: Instance): boolean {
    if (this.#options.tools?.pin !== 'block') return true
    const lists = this.#lists.get(instance)
    return lists !== undefined && lists.tools !== noLists.tools
  }

  /** An instance that can be asked about what the server is. */
  get ready(): Instance | undefined {
    return this.instances.find(({ first }) => first !== undefined)
  }

  /** Why it cannot be called, in one line; undefined where it can. */
  get problem(): string | undefined {
    if (this.ready !== undefined) return undefined
    return (
      this.instances.find(({ reason }) => reason !== undefined)?.reason ?? 'it is being started'
    )
  }

  /** The same as callers are told. */
  get excuse(): string | undefined {
    if (this.ready !== undefined) return undefined
    return this.instances.find(({ excuse }) => excuse !== undefined)?.excuse
  }

  /** What it offered when it was last there, however long ago. */
  get known(): Lists {
    return this.#known
  }

  start(): void {
    for (const instance of this.instances) instance.start()
  }

  /** Settles when an instance becomes ready or the time is over. */
  nextReady(withinMs: number): Promise<void> {
    const { clock } = this.#host
    return new Promise(resolve => {
      const over = (): void => {
        clock.stop(timer)
        this.#waiting.delete(over)
        resolve()
      }
      const timer = clock.start(over, withinMs)
      this.#waiting.add(over)
    })
  }

  /** Somebody wants to hear of other resources than before. */
  follow(): void {
    for (const follower of this.#followers.values()) follower.follow()
  }

  /** Ends it for good. Calls under way are waited for as long as `drainMs`. Never rejects. */
  async stop(drainMs = 0): Promise<void> {
    this.#isStopping = true
    this.#host.deadlines.stop(this.#grace)
    for (const follower of this.#followers.values()) follower.stop()
    await Promise.all(this.instances.map(instance => instance.stop(drainMs)))
    for (const instance of this.instances)
      this.#host.onInstance(this, instance, { type: 'stopped' })
    for (const { resolve } of this.#triedOnce) resolve()
    this.#wakeAll()
  }

  #makeInstance(target: ConstructorParameters<typeof Instance>[0], onTried: () => void): Instance {
    const host = this.#host
    const tell = (instance: Instance, event: InstanceEvent): void => {
      if (!this.#isStopping) host.onInstance(this, instance, event)
    }
    return new Instance(target, this.#options, {
      clock: host.clock,
      deadlines: host.deadlines,
      client: host.client,
      doubtMs: host.doubtMs,
      openMs: openMsOf(this.#options),
      traffic: this.traffic,
      onReady: instance => {
        this.#onReady(instance, onTried)
        tell(instance, { type: 'ready' })
      },
      onDown: (instance, cause) => {
        this.#onDown(instance)
        onTried()
        tell(instance, { type: 'down', cause })
      },
      onRestart: (instance, attempt, delayMs) =>
        tell(instance, { type: 'restart', attempt, delayMs }),
      onQuarantined: (instance, reason) => {
        if (this.ready === undefined) this.#hide()
        tell(instance, { type: 'quarantined', reason })
      },
      onBreaker: (instance, from, to, why) => tell(instance, { type: 'breaker', from, to, why }),
      onNews: (_, method, params) => host.onNews(this, method, params),
    })
  }

  #onReady(instance: Instance, onTried: () => void): void {
    const { first } = instance
    if (first === undefined) return
    const host = this.#host
    const follower = new Follower(first.client, {
      timeoutMs: openMsOf(this.#options),
      deadlines: host.deadlines,
      wanted: () => host.wanted(),
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
    this.#followers.set(instance, follower)
    follower.start()
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const over of [...this.#waiting]) over()
  }

  #onDown(instance: Instance): void {
    this.#followers.get(instance)?.stop()
    this.#followers.delete(instance)
    const { lists } = this
    if (!this.#lists.delete(instance) || this.#isStopping) return
    if (this.#lists.size > 0) {
      this.#host.onLists(this, instance, changedKinds(lists, this.lists))
      return
    }
    this.#last = lists
    this.#host.deadlines.start(this.#grace, limits.upstreamGraceMs.default)
  }

  /** It has been gone for long enough to say so. */
  #hide(): void {
    if (this.#lists.size > 0 || this.#last === noLists) return
    const kinds = changedKinds(this.#last, noLists)
    this.#last = noLists
    const [instance] = this.instances
    if (instance !== undefined) this.#host.onLists(this, instance, kinds)
  }
}

/** Whether all of it has been read. */
function isWhole(lists: Lists): boolean {
  return members.every(member => lists[member] !== noLists[member])
}

const members = ['tools', 'prompts', 'resources', 'templates'] as const

/** The kinds whose lists say something else now. A connection that was made anew often changes nothing. */
function changedKinds(before: Lists, now: Lists): readonly ListKind[] {
  const isSame = (member: keyof Lists): boolean =>
    before[member] === now[member] || JSON.stringify(before[member]) === JSON.stringify(now[member])
  return listKinds.filter(kind =>
    kind === 'resources' ? !isSame('resources') || !isSame('templates') : !isSame(kind),
  )
}

/** How long opening may take: a program may first have to be fetched, as by `npx`. */
export function openMsOf({ openMs, command }: UpstreamOptions): number {
  if (openMs !== undefined) return openMs
  return command === undefined ? limits.upstreamOpenMs.default : limits.programOpenMs.default
}

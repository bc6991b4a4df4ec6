import type { Change, ChangeFilter } from '../client/changes.ts'
import type { Client } from '../client/client.ts'
import { type ListKind, type Lists, listKinds, readLists } from './lists.ts'

/** Whom a follower tells, and what it has to know. */
export interface FollowerHost {
  readonly timeoutMs: number
  wanted(): Iterable<string>
  /** What was read anew. */
  onLists(lists: Partial<Lists>): void
  onUpdated(uri: string): void
  /** A list could not be read; it stays as it was. */
  onError(error: unknown): void
}

/**
 * Keeps up with what one connection to a server offers: reads its lists, reads them again when they
 * change, and hears of the resources that somebody wants to hear of.
 */
export class Follower {
  readonly #client: Client
  readonly #host: FollowerHost
  readonly #stop = new AbortController()
  /** Lists that have to be read, again if they are being read. */
  readonly #due = new Set<ListKind>()
  #reading: Promise<void> | undefined
  #following: AbortController | undefined
  #followed: ReadonlySet<string> = new Set()

  constructor(client: Client, host: FollowerHost) {
    this.#client = client
    this.#host = host
  }

  start(): void {
    for (const kind of listKinds) this.#due.add(kind)
    this.#reading = this.#read()
    void this.#hear(this.#listFilter(), this.#stop.signal)
    this.follow()
  }

  /** Hears of the resources that are wanted now, and no longer of others. */
  follow(): void {
    if (this.#stop.signal.aborted || this.#client.server.capabilities.resources === undefined)
      return
    const wanted = new Set(this.#host.wanted())
    if (isSame(wanted, this.#followed)) return
    this.#followed = wanted
    const before = this.#following
    const following = new AbortController()
    this.#following = wanted.size === 0 ? undefined : following
    if (wanted.size > 0) {
      const signal = AbortSignal.any([this.#stop.signal, following.signal])
      void this.#hear({ resources: [...wanted] }, signal)
    }
    // Only now, so that what both want is not given up in between.
    before?.abort()
  }

  stop(): void {
    this.#stop.abort()
  }

  #listFilter(): ChangeFilter {
    const { capabilities } = this.#client.server
    return {
      tools: capabilities.tools?.listChanged === true,
      prompts: capabilities.prompts?.listChanged === true,
      resources: capabilities.resources?.listChanged === true,
    }
  }

  /** Hears of changes until the signal says otherwise. A server that cannot tell of them is let be. */
  async #hear(filter: ChangeFilter, signal: AbortSignal): Promise<void> {
    if (!Object.values(filter).some(Boolean)) return
    try {
      for await (const change of this.#client.changes(filter, { signal })) this.#onChange(change)
    } catch {
      // Its lists were read when it was connected to, and will be when it is again.
    }
  }

  #onChange(change: Change): void {
    switch (change.type) {
      case 'tools':
      case 'prompts':
      case 'resources':
        this.#due.add(change.type)
        break
      case 'resource':
        this.#host.onUpdated(change.uri)
        return
      case 'lagged':
      case 'reconnected':
        for (const kind of listKinds) this.#due.add(kind)
        break
      default:
        return
    }
    this.#reading ??= this.#read()
  }

  async #read(): Promise<void> {
    while (this.#due.size > 0 && !this.#stop.signal.aborted) {
      const kinds = [...this.#due]
      this.#due.clear()
      try {
        const lists = await readLists(this.#client, kinds, this.#host.timeoutMs)
        if (!this.#stop.signal.aborted) this.#host.onLists(lists)
      } catch (error) {
        if (!this.#stop.signal.aborted) this.#host.onError(error)
      }
    }
    this.#reading = undefined
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false
  for (const one of a) if (!b.has(one)) return false
  return true
}

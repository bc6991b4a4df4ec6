import type { Change, ChangeFilter } from '../../client/changes/changes.ts'
import type { Client } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import { type ListKind, type Lists, listKinds, readLists } from '../catalog/lists.ts'

/** Whom a follower tells, and what it has to know. */
export interface FollowerHost {
  readonly timeoutMs: number
  readonly deadlines: Deadlines
  wanted(): Iterable<string>
  /** What was read anew. */
  onLists(lists: Partial<Lists>): void
  onUpdated(uri: string): void
  /** A list could not be read; it stays as it was, and is read again after a while. */
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
  /** Those that could not be read. */
  readonly #missing = new Set<ListKind>()
  readonly #again = timed(() => this.#readAgain())
  #reading: Promise<void> | undefined
  #following: AbortController | undefined
  #followed: ReadonlySet<string> = new Set()
  /** Those of the wanted that the server does not tell of. */
  readonly #refused = new Set<string>()

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
    for (const uri of this.#refused) {
      // Whoever wants it later has it asked for again; until then it must not disturb the others.
      if (!wanted.delete(uri)) this.#refused.delete(uri)
    }
    if (isSame(wanted, this.#followed)) return
    this.#followed = wanted
    const before = this.#following
    const following = new AbortController()
    this.#following = wanted.size === 0 ? undefined : following
    if (wanted.size > 0) {
      const signal = AbortSignal.any([this.#stop.signal, following.signal])
      void this.#hearOf([...wanted], signal)
    }
    // Only now, so that what both want is not given up in between.
    before?.abort()
  }

  stop(): void {
    this.#host.deadlines.stop(this.#again)
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

  /**
   * Hears of resources. A server that refuses one of them refuses all that are asked for with it, which
   * others may want: then it is asked for the halves, until what it refuses is alone.
   */
  async #hearOf(uris: readonly string[], signal: AbortSignal): Promise<void> {
    const isRefused = await this.#hear({ resources: uris }, signal)
    if (!isRefused || signal.aborted) return
    const [first] = uris
    if (uris.length === 1 && first !== undefined) {
      this.#refused.add(first)
      return
    }
    const middle = uris.length >> 1
    const halves = [uris.slice(0, middle), uris.slice(middle)]
    await Promise.all(halves.map(half => this.#hearOf(half, signal)))
  }

  /** Hears of changes until the signal says otherwise, or the server; gives whether it has refused. */
  async #hear(filter: ChangeFilter, signal: AbortSignal): Promise<boolean> {
    if (!Object.values(filter).some(Boolean)) return false
    try {
      for await (const change of this.#client.changes(filter, { signal })) this.#onChange(change)
    } catch (error) {
      // Of any other failure the next connection is told: it reads the lists and asks for all again.
      return error instanceof RpcError
    }
    return false
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
      const { lists, failures } = await readLists(this.#client, kinds, this.#host.timeoutMs)
      if (this.#stop.signal.aborted) return
      for (const kind of kinds) this.#missing.delete(kind)
      for (const { kind } of failures) this.#missing.add(kind)
      if (Object.keys(lists).length > 0) this.#host.onLists(lists)
      for (const { error } of failures) this.#host.onError(error)
    }
    this.#reading = undefined
    // Whoever was told may have ended it.
    if (this.#stop.signal.aborted) return
    const { deadlines } = this.#host
    deadlines.stop(this.#again)
    if (this.#missing.size > 0) deadlines.start(this.#again, limits.listRetryMs.default)
  }

  #readAgain(): void {
    for (const kind of this.#missing) this.#due.add(kind)
    this.#reading ??= this.#read()
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false
  for (const one of a) if (!b.has(one)) return false
  return true
}

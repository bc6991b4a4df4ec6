import type { Client } from '../../../client/client.ts'
import type { ListKind } from '../../../mcp/list-changes.ts'
import { limits } from '../../../util/limits/limits.ts'
import { type Deadlines, timed } from '../../../util/time/deadline.ts'
import { type ReadList, readList } from '../../catalog/lists.ts'

/** What a list reader needs, and where its results go. */
export interface ListReaderHost {
  /** Limits each request. */
  readonly timeoutMs: number
  readonly deadlines: Deadlines
  /** Called with what was read, and with what could not be read, each time. */
  onRead(kind: ListKind, read: ReadList): void
}

/**
 * Reads one kind of list over one connection: on request, at most once in `listChangesMs`, and
 * again after `listRetryMs` if that failed.
 */
export class ListReader {
  readonly #client: Client
  readonly #kind: ListKind
  readonly #host: ListReaderHost
  readonly #pause = timed(() => this.#continue())
  readonly #retry = timed(() => this.refresh())
  #state: 'idle' | 'reading' | 'pausing' | 'stopped' = 'idle'
  #isDue = false

  constructor(client: Client, kind: ListKind, host: ListReaderHost) {
    this.#client = client
    this.#kind = kind
    this.#host = host
  }

  /** Reads the list for the first time. Settles when that has succeeded or failed; never rejects. */
  async start(): Promise<void> {
    await this.#read()
    // What changes after that is new to callers, and is read at once.
    if (this.#state === 'pausing') {
      this.#host.deadlines.stop(this.#pause)
      this.#continue()
    }
  }

  /** Reads the list again, as soon as it may be. */
  refresh(): void {
    if (this.#state === 'idle') void this.#read()
    else this.#isDue = true
  }

  stop(): void {
    this.#state = 'stopped'
    this.#stopTimers()
  }

  async #read(): Promise<void> {
    const { deadlines, timeoutMs } = this.#host
    this.#stopTimers()
    this.#state = 'reading'
    this.#isDue = false
    const read = await readList(this.#client, this.#kind, timeoutMs)
    if (this.#isStopped()) return
    this.#host.onRead(this.#kind, read)
    // A handler may have stopped the reader.
    if (this.#isStopped()) return
    this.#state = 'pausing'
    deadlines.start(this.#pause, limits.listChangesMs.default)
    if (read.failures.length > 0) deadlines.start(this.#retry, limits.listRetryMs.default)
  }

  #continue(): void {
    this.#state = 'idle'
    if (this.#isDue) void this.#read()
  }

  #stopTimers(): void {
    const { deadlines } = this.#host
    deadlines.stop(this.#pause)
    deadlines.stop(this.#retry)
  }

  // A method, because the compiler takes a field that was compared before for settled.
  #isStopped(): boolean {
    return this.#state === 'stopped'
  }
}

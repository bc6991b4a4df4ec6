import { events } from '../../observe/events.ts'
import { limits } from '../../util/limits/limits.ts'
import { ownClientName } from '../feed/call-rows.ts'
import type { ClientRow } from '../wire.ts'

/** Collects the clients that call, while a page waits for them. */
export class ClientList {
  readonly #clients = new Map<string, ClientRow>()
  #end: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  /**
   * Returns the clients that have called, the newest first. Calls are looked at for some time after each request, and
   * not otherwise.
   */
  list(): readonly ClientRow[] {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.close(), limits.consoleLingerMs.default)
    this.#timer.unref()
    this.#end ??= events.callStarted.subscribe(({ method, caller }) => {
      const { client } = caller
      if (client === undefined || client.name === ownClientName) return
      const { name, version } = client
      const key = JSON.stringify([name, version])
      this.#clients.delete(key)
      this.#clients.set(key, { name, version, at: Date.now(), method })
      const [oldest] = this.#clients.keys()
      if (this.#clients.size > limits.consoleClients.default && oldest !== undefined) {
        this.#clients.delete(oldest)
      }
    })
    return [...this.#clients.values()].reverse()
  }

  /** Stops collecting. Idempotent. */
  close(): void {
    clearTimeout(this.#timer)
    this.#end?.()
    this.#end = undefined
  }
}

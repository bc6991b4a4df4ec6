import type { RouterOptions, UpstreamOptions } from '../options.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { definitionKey } from './definition-key.ts'
import type { RememberedServer } from './remembered-lists.ts'

/** Remembers the lists of servers for the next run, where the options of the router ask for it. */
export class ListMemory {
  readonly #options: Pick<RouterOptions, 'remembered' | 'onRemembered'>

  constructor(options: Pick<RouterOptions, 'remembered' | 'onRemembered'>) {
    this.#options = options
  }

  /** Returns what is remembered of a server; undefined if nothing is, or its definition has changed. */
  recall(name: string, options: UpstreamOptions): RememberedServer | undefined {
    const key = definitionKey(name, options)
    return key === undefined ? undefined : this.#options.remembered?.get(key)
  }

  /** Remembers what was read of the lists of a server. */
  remember(upstream: Upstream): void {
    const { name, options, server, known } = upstream
    const { remembered, onRemembered } = this.#options
    const key = definitionKey(name, options)
    if (remembered === undefined || key === undefined) return
    if (server === undefined || !upstream.hasListed('tools')) return
    const { revision, capabilities } = server
    if (remembered.set(key, { revision, capabilities, lists: known })) onRemembered?.()
  }
}

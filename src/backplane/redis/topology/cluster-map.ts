import type { Clock } from '../../../util/time/clock.ts'
import {
  type DialEngine,
  EngineReplyError,
  type OpenRaw,
  type RawConnection,
} from '../raw-connection.ts'
import { textReply } from '../replies.ts'
import type { EngineAddress } from './address.ts'
import { ask } from './ask.ts'
import { locatedConnection } from './located-connection.ts'
import { type SlotRange, slotOf, slotRanges } from './slots.ts'

/** Which engine of a Redis Cluster has which keys. */
export class ClusterMap {
  readonly #address: EngineAddress
  readonly #dial: DialEngine
  readonly #clock: Clock
  #ranges: readonly (SlotRange & { readonly url: string })[] = []
  #refreshing: Promise<void> | undefined
  /** Called after each refresh. */
  onRefresh: () => void = () => {}

  constructor(address: EngineAddress, dial: DialEngine, clock: Clock) {
    this.#address = address
    this.#dial = dial
    this.#clock = clock
  }

  /** The URLs of all primaries that have keys; empty before the first refresh. */
  get urls(): ReadonlySet<string> {
    return new Set(this.#ranges.map(range => range.url))
  }

  /** Returns the URL of the primary that has a key; undefined if none is known. */
  urlOf(key: string): string | undefined {
    const slot = slotOf(key)
    return this.#ranges.find(({ first, last }) => first <= slot && slot <= last)?.url
  }

  /** Returns the URL of an engine that another one referred to. */
  urlAt(host: string, port: string): string {
    return this.#address.urlOf(host, port)
  }

  /** Makes connections to the primary that has a key at the time. */
  connectionFor(key: string): OpenRaw {
    return locatedConnection(async () => {
      await this.refresh()
      const url = this.urlOf(key)
      if (url === undefined) throw new Error('no engine of the Redis Cluster has the key')
      return this.#dial(url, true)
    })
  }

  /** Asks the engines which keys they have. Calls at the same time share one answer. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Asks all engines that are known. The first answer counts, unless it is that of one that sees no whole cluster. */
  async #refresh(): Promise<void> {
    const urls = [...new Set([...this.urls, ...this.#address.urls])]
    const answers = urls.map(url =>
      ask(this.#dial(url), this.#clock, raw => rangesKnownTo(raw, new URL(url).hostname)),
    )
    const ranges = await Promise.any(answers).catch((error: AggregateError) => {
      throw error.errors[0]
    })
    this.#ranges = ranges.map(range => ({
      ...range,
      url: this.#address.urlOf(range.host, range.port),
    }))
    this.onRefresh()
  }
}

async function rangesKnownTo(raw: RawConnection, host: string): Promise<readonly SlotRange[]> {
  const info = await raw.send(['CLUSTER', 'INFO']).then(textReply, error => {
    const isSingle =
      error instanceof EngineReplyError && /cluster support disabled/.test(error.message)
    if (!isSingle) throw error
    throw new TypeError('the engine is no Redis Cluster: use an address that starts with redis://')
  })
  const [, state = 'unknown'] = /^cluster_state:(\w+)/m.exec(info) ?? []
  if (state !== 'ok') throw new Error(`the state of the Redis Cluster is "${state}"`)
  return slotRanges(await raw.send(['CLUSTER', 'SLOTS']), host)
}

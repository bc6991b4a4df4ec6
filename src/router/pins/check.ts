import type { Route } from '../dispatch/route.ts'
import { tellPin } from '../events.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { PinImport, Pins } from './pins.ts'
import type { PinRecord } from './records.ts'

/** What pinning needs of the router, and whom it tells. */
export interface PinningHost {
  /** The servers, in order. */
  routes(): readonly Route[]
  /** There is something to keep. */
  onPinned(pins: Pins): void
  /** Callers may see other tools now. */
  onChange(): void
  onError(error: unknown): void
}

/** Compares what the servers behind a router list with the pins, and lets callers have what is as pinned. */
export class Pinning {
  readonly #pins: Pins
  readonly #host: PinningHost

  constructor(pins: Pins, host: PinningHost) {
    this.#pins = pins
    this.#host = host
  }

  /** Lets callers have a tool again whose definition has changed. Throws as `Pins.approve` does. */
  approve(server: string, tool: string, digest: string): void {
    this.#pins.approve(server, tool, digest)
    this.#host.onChange()
    this.#host.onPinned(this.#pins)
  }

  /**
   * Takes over what somebody else has made of the pins; tools whose pins were removed are pinned anew, as
   * they are listed. Gives those whose pins are others. Rejects as `Pins.import` does.
   */
  async import(file: unknown, options: Pick<PinImport, 'removed'>): Promise<readonly PinRecord[]> {
    const taken = await this.#pins.import(file, options)
    const touched = [...taken, ...(options.removed ?? [])]
    if (touched.length === 0) return taken
    this.#host.onChange()
    for (const { name, upstream } of this.#host.routes()) {
      const tools = new Set(touched.filter(({ server }) => server === name).map(({ tool }) => tool))
      // One after the other: which instance a tool is pinned from is not left to chance.
      for (const instance of tools.size === 0 ? [] : upstream.instances) {
        await this.check(upstream, instance, tools)
      }
    }
    return taken
  }

  /** Compares what an instance lists, or those of its tools that are named, with the pins. Never rejects. */
  async check(upstream: Upstream, instance: Instance, only?: ReadonlySet<string>): Promise<void> {
    const { pin = 'warn' } = upstream.options.tools ?? {}
    const listed = upstream.allLists.get(instance)?.tools
    if (pin === 'off' || listed === undefined) return
    const tools = only === undefined ? listed : listed.filter(({ name }) => only.has(name))
    try {
      const { changes, added } = await this.#pins.check(upstream.name, tools)
      if (added.length > 0 || changes.length > 0) this.#host.onPinned(this.#pins)
      for (const change of changes) tellPin(change, pin)
      if (changes.length > 0 && pin === 'block') this.#host.onChange()
    } catch (error) {
      this.#host.onError(error)
    }
  }
}

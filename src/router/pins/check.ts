import type { Route } from '../dispatch/route.ts'
import { publishPinChange } from '../events.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { PinImportOptions, Pins } from './pins.ts'
import type { PinRecord } from './records.ts'

/** What a {@link PinChecker} needs from the router. */
export interface PinCheckerHost {
  /** Returns the routes to the servers, in order. */
  routes(): readonly Route[]
  /** Called when pins or pending changes should be saved. */
  onPinned(pins: Pins): void
  /** Called when the exposed tools may have changed. */
  onChange(): void
  onError(error: unknown): void
}

/** Compares the tools that upstream servers list with the pins, and reports changes to the router. */
export class PinChecker {
  readonly #pins: Pins
  readonly #host: PinCheckerHost

  constructor(pins: Pins, host: PinCheckerHost) {
    this.#pins = pins
    this.#host = host
  }

  /** Approves a changed tool definition. Throws as `Pins.approve` does. */
  approve(server: string, tool: string, digest: string): void {
    this.#pins.approve(server, tool, digest)
    this.#host.onChange()
    this.#host.onPinned(this.#pins)
  }

  /**
   * Imports a pin file. Tools whose pins were removed are pinned again as currently listed. Resolves with
   * the pins that changed. Rejects as `Pins.import` does.
   */
  async import(
    file: unknown,
    options: Pick<PinImportOptions, 'removed'>,
  ): Promise<readonly PinRecord[]> {
    const imported = await this.#pins.import(file, options)
    const touched = [...imported, ...(options.removed ?? [])]
    if (touched.length === 0) return imported
    this.#host.onChange()
    for (const { name, upstream } of this.#host.routes()) {
      const tools = new Set(touched.filter(({ server }) => server === name).map(({ tool }) => tool))
      // One after the other, so that it is deterministic which instance a tool is pinned from.
      for (const instance of tools.size === 0 ? [] : upstream.instances) {
        await this.check(upstream, instance, tools)
      }
    }
    return imported
  }

  /** Compares the tools of an instance, or only the named ones, with the pins. Never rejects. */
  async check(upstream: Upstream, instance: Instance, only?: ReadonlySet<string>): Promise<void> {
    const { pin = 'warn' } = upstream.options.tools ?? {}
    const listed = upstream.allLists.get(instance)?.tools
    if (pin === 'off' || listed === undefined) return
    const tools = only === undefined ? listed : listed.filter(({ name }) => only.has(name))
    try {
      const { changes, added } = await this.#pins.check(upstream.name, tools)
      if (added.length > 0 || changes.length > 0) this.#host.onPinned(this.#pins)
      for (const change of changes) publishPinChange(change, pin)
      if (changes.length > 0 && pin === 'block') this.#host.onChange()
    } catch (error) {
      this.#host.onError(error)
    }
  }
}

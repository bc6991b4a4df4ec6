import type { BusSubscriber, MessageBus } from '../message-bus.ts'

/** Delivers messages within this process, each in a microtask of its own. */
export class LocalBus implements MessageBus {
  readonly #subscribers = new Map<string, Set<BusSubscriber>>()
  /** Throws if the backplane cannot be used. */
  readonly #checkUsable: () => void

  constructor(checkUsable: () => void) {
    this.#checkUsable = checkUsable
  }

  publish(channel: string, text: string): void {
    this.#checkUsable()
    this.deliver(channel, text)
  }

  async subscribe(channel: string, subscriber: BusSubscriber): Promise<() => void> {
    this.#checkUsable()
    // A subscription of its own, so that one object can subscribe twice.
    const own: BusSubscriber = {
      message: text => subscriber.message(text),
      gap: () => subscriber.gap(),
    }
    const all = this.#subscribers.get(channel) ?? new Set()
    this.#subscribers.set(channel, all.add(own))
    return () => {
      all.delete(own)
      if (all.size === 0 && this.#subscribers.get(channel) === all) {
        this.#subscribers.delete(channel)
      }
    }
  }

  /** The number of channels with subscribers. */
  get size(): number {
    return this.#subscribers.size
  }

  /** Passes a message to the subscribers of a channel. */
  deliver(channel: string, text: string): void {
    for (const subscriber of this.#subscribers.get(channel) ?? []) {
      queueMicrotask(() => {
        if (this.#subscribers.get(channel)?.has(subscriber)) subscriber.message(text)
      })
    }
  }

  /** Reports a possible loss to all subscribers. */
  reportGap(): void {
    for (const all of this.#subscribers.values()) {
      for (const subscriber of all) queueMicrotask(() => subscriber.gap())
    }
  }

  /** Ends all subscriptions. */
  clear(): void {
    this.#subscribers.clear()
  }
}

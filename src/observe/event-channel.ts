import { type Channel, channel, subscribe, unsubscribe } from 'node:diagnostics_channel'

/**
 * A typed event, published on a channel of `node:diagnostics_channel`. Any code of the process can subscribe
 * to the channel by its name.
 */
export interface EventChannel<Event> {
  /** The name of the channel: `trunkline:call:finished`. */
  readonly name: string
  /**
   * Whether there are subscribers. Publishers check it first, to avoid creating an event for none:
   * `if (events.toolChanged.hasSubscribers) events.toolChanged.publish({ … })`.
   */
  readonly hasSubscribers: boolean
  /** Calls all subscribers, synchronously and in the order in which they subscribed. */
  publish(event: Event): void
  /**
   * Adds a subscriber. Returns a function that removes it. A subscriber must not throw: Node then reports an
   * uncaught exception.
   */
  subscribe(listener: (event: Event) => void): () => void
}

/** A class, because properties of an object literal with a getter are slow to read. */
class DiagnosticsEventChannel<Event> implements EventChannel<Event> {
  readonly name: string
  // Kept for good: Node collects a channel without references, and its subscribers with it.
  readonly #channel: Channel

  constructor(name: string) {
    this.name = name
    this.#channel = channel(name)
  }

  get hasSubscribers(): boolean {
    return this.#channel.hasSubscribers
  }

  publish(event: Event): void {
    this.#channel.publish(event)
  }

  subscribe(listener: (event: Event) => void): () => void {
    // The check: each channel name has one event type, and all publishers here are typed.
    const subscriber = listener as (event: unknown) => void
    subscribe(this.name, subscriber)
    return () => void unsubscribe(this.name, subscriber)
  }
}

/** Creates the channel of an event, such as `call:finished`. */
export function channelOf<Event>(kind: string): EventChannel<Event> {
  return new DiagnosticsEventChannel(`trunkline:${kind}`)
}

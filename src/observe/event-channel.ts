import { type Channel, channel, subscribe, unsubscribe } from 'node:diagnostics_channel'

/**
 * One kind of event, over a channel of `node:diagnostics_channel` that anybody in the process can
 * subscribe to by its name.
 */
export interface EventChannel<Event> {
  /** The name of the channel: `trunkline:call:ended`. */
  readonly name: string
  /**
   * Whether anybody listens. Whoever publishes looks here first and makes no event for nobody:
   * `if (events.toolChanged.isHeard) events.toolChanged.publish({ … })`.
   */
  readonly isHeard: boolean
  /** Tells everybody who listens, at once and in the order in which they came; nobody is nothing. */
  publish(event: Event): void
  /**
   * Listens; the function that comes back ends that. A listener must not throw: Node then reports an
   * uncaught exception.
   */
  subscribe(listener: (event: Event) => void): () => void
}

/** A class, because an object that is made with a getter of its own is looked into slowly ever after. */
class Way<Event> implements EventChannel<Event> {
  readonly name: string
  // Held for good: Node forgets a channel that nobody holds, and its subscribers with it.
  readonly #channel: Channel

  constructor(name: string) {
    this.name = name
    this.#channel = channel(name)
  }

  get isHeard(): boolean {
    return this.#channel.hasSubscribers
  }

  publish(event: Event): void {
    this.#channel.publish(event)
  }

  subscribe(listener: (event: Event) => void): () => void {
    // The check: the channel is named after the type, and typed publishers are all it has here.
    const heard = listener as (event: unknown) => void
    subscribe(this.name, heard)
    return () => void unsubscribe(this.name, heard)
  }
}

/** The channel of one kind of event, such as `call:ended`. */
export function channelOf<Event>(kind: string): EventChannel<Event> {
  return new Way(`trunkline:${kind}`)
}

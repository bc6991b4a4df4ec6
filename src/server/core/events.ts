import type { Caller } from '../../mcp/caller.ts'
import type { Session } from '../session.ts'

/** A client has subscribed to a resource, or unsubscribed from it. */
export interface SubscriptionEvent {
  /** The URI of the resource. */
  readonly uri: string
  /** The client. */
  readonly caller: Caller
  /** The session of the client; undefined for a listen stream of a stateless client. */
  readonly session: Session | undefined
}

/** The events of a server, by name, with what their listeners get. */
export interface ServerEvents {
  /** A client has completed `initialize` and can receive requests and notifications. */
  readonly ready: Session
  /** The client of a session has changed its roots. */
  readonly roots: Session
  /** The connection of a session has closed. */
  readonly closed: Session
  /** A client has subscribed to a resource. */
  readonly subscribe: SubscriptionEvent
  /** A client has unsubscribed from a resource, or its connection has closed. */
  readonly unsubscribe: SubscriptionEvent
}

/** Receives events of one kind. What it throws goes to `onError`. */
export type ServerListener<K extends keyof ServerEvents> = (event: ServerEvents[K]) => unknown

/** Calls the listeners of events. */
export class EventListeners {
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Map<string, Set<(event: never) => unknown>>()

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Adds a listener; returns a function that removes it. Throws a TypeError for an unknown event. */
  add<K extends keyof ServerEvents>(name: K, listener: ServerListener<K>): () => void {
    if (!names.has(name)) {
      throw new TypeError(`unknown event "${name}"; the events are ${[...names].join(', ')}`)
    }
    if (typeof listener !== 'function') {
      throw new TypeError(`the listener of "${name}" must be a function`)
    }
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    // A copy of its own, so that the same function can be added and removed twice.
    const own = (event: never): unknown => listener(event)
    listeners.add(own)
    return () => listeners.delete(own)
  }

  /** Calls the listeners of an event, in the order in which they were added. */
  emit<K extends keyof ServerEvents>(name: K, event: ServerEvents[K]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) void this.#call(listener, event)
  }

  async #call(listener: (event: never) => unknown, event: unknown): Promise<void> {
    try {
      // The check: `add` accepts a listener for the events of its name only.
      await listener(event as never)
    } catch (error) {
      this.#onError(error)
    }
  }
}

const names: ReadonlySet<string> = new Set<keyof ServerEvents>([
  'ready',
  'roots',
  'closed',
  'subscribe',
  'unsubscribe',
])

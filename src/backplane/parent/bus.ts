import { deferred } from '../../util/promises.ts'
import { closedError } from '../backplane-error.ts'
import type { BusSubscriber, MessageBus } from '../message-bus.ts'
import type { RemoteConnection, RunCommand } from '../remote/connection.ts'
import { addSubscriber, type SubscribedChannel } from '../remote/subscribed-channel.ts'
import type { RawLink } from './raw-link.ts'

/** Messages through the process that holds the state. */
export class ParentBus implements MessageBus {
  readonly #name: string
  readonly #connection: RemoteConnection<RawLink>
  readonly #channels = new Map<string, SubscribedChannel>()
  /** Whether messages could not be sent. */
  #hasLost = false
  #isClosed = false

  constructor(name: string, connection: RemoteConnection<RawLink>) {
    this.#name = name
    this.#connection = connection
  }

  publish(channel: string, text: string): void {
    if (this.#isClosed) throw closedError(this.#name)
    if (!this.#connection.send(raw => raw.post('publish', channel, text))) this.#hasLost = true
  }

  async subscribe(channel: string, subscriber: BusSubscriber): Promise<() => void> {
    if (this.#isClosed) throw closedError(this.#name)
    const subscribed = this.#channels.get(channel) ?? this.#begin(channel)
    return addSubscriber(subscribed, subscriber, () => this.#endIfUnused(channel, subscribed))
  }

  /** Subscribes on a new link to everything that is wanted. */
  async prepare(run: RunCommand<RawLink>): Promise<void> {
    for (const channel of [...this.#channels.keys()]) {
      await run(raw => raw.ask('subscribe', channel))
    }
  }

  /** Called when a link is up: messages may have been missed, and others may miss those of this process. */
  onUp(): void {
    if (this.#hasLost) this.#connection.send(raw => raw.post('reportGap'))
    this.#hasLost = false
    for (const channel of [...this.#channels.keys()]) this.receive(channel, undefined)
  }

  /** Passes a message to the subscribers of a channel; without a text, a gap. */
  receive(channel: string, text: string | undefined): void {
    for (const subscriber of [...(this.#channels.get(channel)?.subscribers ?? [])]) {
      if (text === undefined) subscriber.gap()
      else subscriber.message(text)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#channels.clear()
  }

  #begin(channel: string): SubscribedChannel {
    const ready = deferred<void>()
    const subscribed = { subscribers: new Set<BusSubscriber>(), ready: ready.promise }
    this.#channels.set(channel, subscribed)
    this.#connection
      .run(raw => raw.ask('subscribe', channel), channel.length)
      .then(ready.resolve, error => {
        // The next subscription to the channel tries again.
        if (this.#channels.get(channel) === subscribed) this.#channels.delete(channel)
        ready.reject(error)
      })
    return subscribed
  }

  #endIfUnused(channel: string, subscribed: SubscribedChannel): void {
    if (subscribed.subscribers.size > 0 || this.#channels.get(channel) !== subscribed) return
    this.#channels.delete(channel)
    this.#connection.send(raw => raw.post('unsubscribe', channel))
  }
}

import { limits } from '../../util/limits/limits.ts'
import { deferred } from '../../util/promises.ts'
import { randomHex } from '../../util/random.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'
import { closedError } from '../backplane-error.ts'
import type { BusSubscriber, MessageBus } from '../message-bus.ts'
import { addSubscriber, type SubscribedChannel } from '../remote/subscribed-channel.ts'
import type { PreparedConnection, RedisConnection } from './connection.ts'
import type { RedisKeys } from './keys.ts'
import type { RedisCommands } from './topology/commands.ts'

/** What a bus needs. */
export interface RedisBusOptions {
  readonly name: string
  readonly keys: RedisKeys
  readonly clock: Clock
  readonly commands: RedisCommands
  /** The command that publishes: `SPUBLISH` in a Redis Cluster, which tells the engines of one shard only. */
  readonly publishCommand: 'PUBLISH' | 'SPUBLISH'
  readonly subscriber: RedisConnection
}

/** The first character of what is published: a message, or a notice that messages got lost. */
const message = 'm'
const gap = 'g'

/**
 * Messages through an engine. The engine keeps none, so a subscriber misses those that are sent while its
 * connection is replaced, and it learns that. It checks its connection by messages to itself, because a connection
 * that delivers nothing looks like one on which nothing is published.
 */
export class RedisBus implements MessageBus {
  readonly #options: RedisBusOptions
  readonly #channels = new Map<string, SubscribedChannel>()
  /** Channels on which messages could not be sent; undefined if there are too many. */
  #lost: Set<string> | undefined = new Set()
  #timer: Timer | undefined
  #isClosed = false
  readonly #ownChannel: string
  readonly #everyone: string
  #sent = 0
  #acknowledged = 0
  #heard = 0
  #failures = 0

  constructor(options: RedisBusOptions) {
    this.#options = options
    // No channel of a user contains NUL.
    this.#ownChannel = options.keys.channel(`\0${randomHex(8)}`)
    this.#everyone = options.keys.channel('\0')
  }

  publish(channel: string, text: string): void {
    if (this.#isClosed) throw closedError(this.#options.name)
    this.#send(channel, message + text)
  }

  async subscribe(channel: string, subscriber: BusSubscriber): Promise<() => void> {
    if (this.#isClosed) throw closedError(this.#options.name)
    const subscribed = this.#channels.get(channel) ?? this.#begin(channel)
    return addSubscriber(subscribed, subscriber, () => this.#endIfUnused(channel, subscribed))
  }

  /** Subscribes on a new connection to everything that is wanted. */
  async prepare(connection: PreparedConnection): Promise<void> {
    await connection.subscribe(this.#ownChannel, text => {
      this.#heard = Number(text)
    })
    await connection.subscribe(this.#everyone, () => this.#reportGap())
    for (const channel of [...this.#channels.keys()]) {
      await connection.subscribe(this.#options.keys.channel(channel), text =>
        this.#receive(channel, text),
      )
    }
  }

  /** Called when the connection of the subscriber is up again. */
  onSubscriberUp(): void {
    this.#sent = this.#acknowledged = this.#heard = this.#failures = 0
    this.#reportGap()
    if (this.#timer === undefined) this.#schedule()
  }

  /** Called when commands can be sent again: notifies subscribers everywhere of messages that got lost. */
  onCommandsUp(): void {
    const lost = this.#lost
    this.#lost = new Set()
    if (lost === undefined) this.#announceLoss()
    else for (const channel of lost) this.#send(channel, gap)
  }

  close(): void {
    this.#isClosed = true
    this.#channels.clear()
    if (this.#timer !== undefined) this.#options.clock.stop(this.#timer)
  }

  #begin(channel: string): SubscribedChannel {
    const { keys, subscriber } = this.#options
    const ready = deferred<void>()
    const subscribed = { subscribers: new Set<BusSubscriber>(), ready: ready.promise }
    this.#channels.set(channel, subscribed)
    const listener = (text: string) => this.#receive(channel, text)
    subscriber.subscribe(keys.channel(channel), listener).then(ready.resolve, error => {
      // The next subscription to the channel tries again.
      if (this.#channels.get(channel) === subscribed) this.#channels.delete(channel)
      ready.reject(error)
    })
    return subscribed
  }

  #endIfUnused(channel: string, subscribed: SubscribedChannel): void {
    if (subscribed.subscribers.size > 0 || this.#channels.get(channel) !== subscribed) return
    this.#channels.delete(channel)
    const { keys, subscriber } = this.#options
    // If this fails, the connection is replaced, or messages arrive that nobody wants.
    subscriber.unsubscribe(keys.channel(channel)).catch(() => {})
  }

  #receive(channel: string, text: string): void {
    const all = this.#channels.get(channel)?.subscribers ?? []
    for (const subscriber of [...all]) {
      if (text.startsWith(message)) subscriber.message(text.slice(1))
      else subscriber.gap()
    }
  }

  #reportGap(): void {
    for (const { subscribers } of [...this.#channels.values()]) {
      for (const subscriber of [...subscribers]) subscriber.gap()
    }
  }

  #send(channel: string, text: string): void {
    this.#publish(this.#options.keys.channel(channel), text).catch(() => {
      if (
        this.#lost === undefined ||
        this.#lost.add(channel).size > limits.engineLostChannels.default
      ) {
        this.#lost = undefined
      }
    })
  }

  #publish(channel: string, text: string): Promise<unknown> {
    const { commands, publishCommand } = this.#options
    return commands.send(channel, [publishCommand, channel, text])
  }

  #announceLoss(): void {
    this.#publish(this.#everyone, gap).catch(() => {
      this.#lost = undefined
    })
  }

  #schedule(): void {
    this.#timer = this.#options.clock.start(() => {
      this.#check()
      this.#schedule()
    }, limits.busCheckMs.default)
    this.#timer.unref()
  }

  /** Sends a message to this subscriber; two in a row that were sent and did not arrive replace its connection. */
  #check(): void {
    const { commands, subscriber } = this.#options
    // Where only single commands failed, no new connection has led to a notice.
    if (commands.isUp && this.#lost?.size !== 0) this.onCommandsUp()
    if (!subscriber.isUp) return
    this.#failures = this.#heard < this.#acknowledged ? this.#failures + 1 : 0
    if (this.#failures >= 2) {
      this.#failures = 0
      subscriber.replace(new Error('messages do not arrive'))
      return
    }
    const number = ++this.#sent
    this.#publish(this.#ownChannel, `${number}`).then(
      () => {
        if (number <= this.#sent) this.#acknowledged = number
      },
      // Nothing was sent, so nothing can be missing.
      () => {},
    )
  }
}

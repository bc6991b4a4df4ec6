import { limits } from '../../util/limits/limits.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'
import { closedError } from '../backplane-error.ts'
import type { BusSubscriber, MessageBus } from '../message-bus.ts'
import type { RunCommand } from '../remote/connection.ts'
import { addSubscriber, type SubscribedChannel } from '../remote/subscribed-channel.ts'
import type { NatsConnection } from './engine/connection.ts'
import type { RawNats } from './engine/raw-connection.ts'
import type { NatsSubjects } from './engine/subjects.ts'

/** What a bus needs. */
export interface NatsBusOptions {
  readonly subjects: NatsSubjects
  readonly clock: Clock
  /** A connection of its own, which sends and receives all messages. */
  readonly connection: NatsConnection
}

/** A channel with subscribers in this process, and its subscription. */
interface NatsChannel extends SubscribedChannel {
  ready: Promise<void>
  /** Ends the subscription on the present connection. */
  end(): void
}

/** The first character of what is published: a message, or a notice that messages got lost. */
const message = 'm'
const gap = 'g'

/** The channel on which everyone learns that messages of any channel got lost. No channel of a user contains NUL. */
const everyone = '\0'

/**
 * Messages through an engine. The engine keeps none, so a subscriber misses those that are sent while its connection
 * is replaced, and it learns that. The engine does not confirm messages, but it answers in order: what was sent before
 * a question that it has answered has arrived.
 */
export class NatsBus implements MessageBus {
  readonly #options: NatsBusOptions
  readonly #channels = new Map<string, NatsChannel>()
  /** Channels on which messages got lost; undefined if there are too many. */
  #lost: Set<string> | undefined = new Set()
  /** Channels on which messages were sent that the engine has not confirmed. */
  #unconfirmed = new Set<string>()
  #unconfirmedBytes = 0
  #isConfirming = false
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: NatsBusOptions) {
    this.#options = options
  }

  publish(channel: string, text: string): void {
    const { connection } = this.#options
    if (this.#isClosed) throw closedError(connection.name)
    connection.checkSize(message + text)
    this.#send(channel, message + text)
  }

  async subscribe(channel: string, subscriber: BusSubscriber): Promise<() => void> {
    if (this.#isClosed) throw closedError(this.#options.connection.name)
    const subscribed = this.#channels.get(channel) ?? this.#begin(channel)
    return addSubscriber(subscribed, subscriber, () => this.#endIfUnused(channel, subscribed))
  }

  /** Subscribes on a new connection to everything that is wanted. */
  async prepare(run: RunCommand<RawNats>): Promise<void> {
    const { subjects } = this.#options
    await run(async raw => {
      raw.subscribe(subjects.channel(everyone), () => this.#reportGap())
      for (const [channel, subscribed] of this.#channels) this.#listen(raw, channel, subscribed)
      await raw.flush()
    })
  }

  /** Called when the connection is up: notifies subscribers, here and elsewhere, of messages that got lost. */
  onUp(): void {
    this.#reportGap()
    const lost = this.#lost
    this.#lost = new Set()
    for (const channel of lost ?? [everyone]) this.#send(channel, gap)
    if (this.#timer === undefined) this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    this.#channels.clear()
    if (this.#timer !== undefined) this.#options.clock.stop(this.#timer)
  }

  #begin(channel: string): NatsChannel {
    const subscribed: NatsChannel = {
      subscribers: new Set(),
      ready: Promise.resolve(),
      end: () => {},
    }
    this.#channels.set(channel, subscribed)
    subscribed.ready = this.#options.connection
      .run(raw => {
        this.#listen(raw, channel, subscribed)
        return raw.flush()
      })
      .catch(error => {
        // The next subscription to the channel tries again.
        if (this.#channels.get(channel) === subscribed) this.#channels.delete(channel)
        throw error
      })
    return subscribed
  }

  #listen(raw: RawNats, channel: string, subscribed: NatsChannel): void {
    subscribed.end = raw.subscribe(this.#options.subjects.channel(channel), ({ text }) => {
      for (const subscriber of [...subscribed.subscribers]) {
        if (text.startsWith(message)) subscriber.message(text.slice(1))
        else subscriber.gap()
      }
    })
  }

  #endIfUnused(channel: string, subscribed: NatsChannel): void {
    if (subscribed.subscribers.size > 0 || this.#channels.get(channel) !== subscribed) return
    this.#channels.delete(channel)
    subscribed.end()
  }

  #reportGap(): void {
    for (const { subscribers } of [...this.#channels.values()]) {
      for (const subscriber of [...subscribers]) subscriber.gap()
    }
  }

  #send(channel: string, text: string): void {
    const { connection, subjects } = this.#options
    const isTooMuch =
      this.#unconfirmedBytes > 0 &&
      this.#unconfirmedBytes + text.length > limits.enginePendingBytes.default
    const isSent =
      !isTooMuch && connection.send(raw => raw.publish(subjects.channel(channel), text))
    if (!isSent) {
      this.#lose(channel)
      return
    }
    this.#unconfirmed.add(channel)
    this.#unconfirmedBytes += text.length
    if (!this.#isConfirming) void this.#confirm()
  }

  /** Asks the engine whether messages have arrived, until there are none in question. */
  async #confirm(): Promise<void> {
    this.#isConfirming = true
    while (this.#unconfirmed.size > 0) {
      // Those of one turn are asked for together.
      await Promise.resolve()
      const channels = this.#unconfirmed
      const bytes = this.#unconfirmedBytes
      this.#unconfirmed = new Set()
      try {
        await this.#options.connection.run(raw => raw.flush())
      } catch {
        for (const channel of channels) this.#lose(channel)
      }
      this.#unconfirmedBytes -= bytes
    }
    this.#isConfirming = false
  }

  #lose(channel: string): void {
    if (this.#lost === undefined) return
    if (this.#lost.add(channel).size > limits.engineLostChannels.default) this.#lost = undefined
  }

  #schedule(): void {
    this.#timer = this.#options.clock.start(() => {
      this.#check()
      this.#schedule()
    }, limits.busCheckMs.default)
    this.#timer.unref()
  }

  /** Checks that the engine answers, because a connection on which nothing arrives looks like one without messages. */
  #check(): void {
    const { connection } = this.#options
    if (!connection.isUp) return
    // Where only single messages got lost, no new connection has led to a notice.
    const lost = this.#lost
    this.#lost = new Set()
    for (const channel of lost ?? [everyone]) this.#send(channel, gap)
    // Two missed answers replace the connection.
    connection.run(raw => raw.flush()).catch(() => {})
  }
}

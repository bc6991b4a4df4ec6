/**
 * Messages to those who subscribe at the time: delivered at most once, and in the order of one sender. Every
 * possible loss is reported as a gap.
 */
export interface MessageBus {
  /**
   * Sends a text to all subscribers of a channel, including those of this process. A message that cannot be
   * sent is reported to the subscribers as a gap once that is possible.
   */
  publish(channel: string, text: string): void
  /**
   * Subscribes to a channel. Resolves when no further message is missed, to a function that ends the
   * subscription.
   */
  subscribe(channel: string, subscriber: BusSubscriber): Promise<() => void>
}

/** Receives the messages of a channel. */
export interface BusSubscriber {
  /** Called with each message. */
  message(text: string): void
  /** Called when messages may have been missed, once further messages arrive again. */
  gap(): void
}

import type { BusSubscriber } from '../message-bus.ts'

/** A channel with subscribers in this process. */
export interface SubscribedChannel {
  readonly subscribers: Set<BusSubscriber>
  /** Settles with the first subscription; later ones wait for it. */
  readonly ready: Promise<unknown>
}

/**
 * Adds a subscriber to a channel. Resolves, when no further message is missed, to a function that ends the
 * subscription; rejects as `ready` does. `onEnded` is called when the subscription has ended.
 */
export async function addSubscriber(
  channel: SubscribedChannel,
  subscriber: BusSubscriber,
  onEnded: () => void,
): Promise<() => void> {
  // A subscription of its own, so that one object can subscribe twice.
  const own: BusSubscriber = {
    message: text => subscriber.message(text),
    gap: () => subscriber.gap(),
  }
  channel.subscribers.add(own)
  const end = (): void => {
    if (channel.subscribers.delete(own)) onEnded()
  }
  try {
    await channel.ready
  } catch (error) {
    end()
    throw error
  }
  return end
}

import type { MessageBus } from '../backplane/message-bus.ts'

/** Returns the channel on which a node gets requests to drain. */
function channelOf(node: string): string {
  return `drain ${node}`
}

/** Asks a node to drain. That it has begun shows in its state, and that it has ended in its absence. */
export function requestDrain(bus: MessageBus, node: string): void {
  bus.publish(channelOf(node), '')
}

/**
 * Calls `onDrain` when an operator asks this node to drain. Resolves to a function that stops it. Never rejects: while
 * the engine cannot be reached, nobody can ask.
 */
export async function onDrainRequest(
  bus: MessageBus,
  node: string,
  onDrain: () => void,
): Promise<() => void> {
  const subscriber = { message: onDrain, gap: () => {} }
  return bus.subscribe(channelOf(node), subscriber).catch(() => () => {})
}

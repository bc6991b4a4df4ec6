import type { StateChannel } from './protocol.ts'

/**
 * The way to another process: `process` in a process that was started with a channel, and in the one that has started it
 * a `ChildProcess` of `node:child_process` or a `Worker` of `node:cluster`. It needs `serialization: 'advanced'`.
 */
export interface ProcessChannel {
  /** Sends a message, and calls back when that is done or has failed. Undefined in a process without a channel. */
  send?(message: object, done: (error: Error | null) => void): boolean
  /** Adds a listener. */
  on(event: 'message', listener: (message: unknown) => void): unknown
  /** Removes a listener. */
  off(event: 'message', listener: (message: unknown) => void): unknown
}

/** Returns the messages of a channel between processes. */
export function stateChannel(channel: ProcessChannel): StateChannel {
  return {
    send: message => {
      // An error means that the channel has ended. Requests that get no reply fail at their deadline.
      channel.send?.(message, () => {})
    },
    onMessage: listener => {
      channel.on('message', listener)
      return () => void channel.off('message', listener)
    },
  }
}

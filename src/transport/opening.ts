import { ChannelError } from '../jsonrpc/channel.ts'
import { limits } from '../util/limits/limits.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'

/** Options for opening a connection. */
export interface OpeningOptions {
  /** The timeout for opening, in milliseconds. */
  readonly handshakeMs?: number
  /** Cancels opening: the promise rejects with the signal's reason. Has no effect once open. */
  readonly signal?: AbortSignal
  /** The clock for the timeout; for tests. */
  readonly clock?: Clock
}

/**
 * Opens a connection with a timeout and a signal. `begin` starts it, later calls `opened` or `failed`,
 * and returns a function that aborts it, which is called unless the connection has opened.
 *
 * Rejects with the argument of `failed`, with a ChannelError `'timeout'` that names the address, or
 * with the signal's reason.
 */
export function opening<T>(
  address: string,
  options: OpeningOptions,
  begin: (opened: (connection: T) => void, failed: (error: ChannelError) => void) => () => void,
): Promise<T> {
  const { handshakeMs = limits.handshakeMs.default, signal, clock = systemClock } = options
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    let isSettled = false
    const settle = (): boolean => {
      if (isSettled) return false
      isSettled = true
      clock.stop(timer)
      signal?.removeEventListener('abort', onAbort)
      return true
    }
    const fail = (reason: unknown): void => {
      if (!settle()) return
      abort()
      reject(reason)
    }
    const onAbort = (): void => fail(signal?.reason)
    // Before the timer and the listener, so that they are not leaked if it throws.
    const abort = begin(connection => {
      if (settle()) resolve(connection)
    }, fail)
    const timer = clock.start(
      () => fail(new ChannelError('timeout', `connecting to ${address}: no answer`)),
      handshakeMs,
    )
    signal?.addEventListener('abort', onAbort)
  })
}

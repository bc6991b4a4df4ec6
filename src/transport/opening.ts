import { ChannelError } from '../jsonrpc/channel.ts'
import { limits } from '../util/limits/limits.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'

export interface OpeningOptions {
  /** How long opening may take. */
  readonly handshakeMs?: number
  /** Gives up; the promise then rejects with the signal's reason. Too late it does nothing. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

/**
 * Waits for something to open. `begin` starts it, later calls one of the two it is given, and returns how
 * to give it up, which is then called unless it has opened.
 *
 * Rejects with what `failed` was given, with a ChannelError `'timeout'` that names the address, or
 * with the signal's reason.
 */
export function opening<T>(
  address: string,
  options: OpeningOptions,
  begin: (opened: (it: T) => void, failed: (error: ChannelError) => void) => () => void,
): Promise<T> {
  const { handshakeMs = limits.handshakeMs.default, signal, clock = systemClock } = options
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    let isSettled = false
    const settle = (): boolean => {
      if (isSettled) return false
      isSettled = true
      clock.stop(timer)
      signal?.removeEventListener('abort', aborted)
      return true
    }
    const fail = (reason: unknown): void => {
      if (!settle()) return
      giveUp()
      reject(reason)
    }
    const aborted = (): void => fail(signal?.reason)
    // First, so that nothing is left behind when it throws.
    const giveUp = begin(it => {
      if (settle()) resolve(it)
    }, fail)
    const timer = clock.start(
      () => fail(new ChannelError('timeout', `connecting to ${address}: no answer`)),
      handshakeMs,
    )
    signal?.addEventListener('abort', aborted)
  })
}

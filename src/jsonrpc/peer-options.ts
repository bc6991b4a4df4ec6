import { RpcError } from './error.ts'
import type {
  ErrorObject,
  Malformed,
  RpcFailure,
  RpcNotification,
  RpcRequest,
  RpcResult,
} from './message.ts'
import type { OutboundOptions } from './outbound.ts'
import type { StrayReason } from './pending.ts'

/** How the two sides tell each other that a request is given up. */
export interface Cancellation {
  /** The notification, such as `$/cancelRequest`. */
  readonly method: string
  /** The member of its params that holds the id of the request. */
  readonly member: string
  /** What a cancelled request is answered with; without it, it is not answered. */
  readonly answer?: ErrorObject
}

/** What a peer may be told. Every limit left out has the default of `docs/limits.md`. */
export interface PeerOptions extends OutboundOptions {
  readonly maxInFlight?: number
  readonly maxQueued?: number
  /** How long requests in flight may still be answered once the other side has stopped talking. */
  readonly endedMs?: number
  /** Whether batches of the other side are taken apart; otherwise they are refused. */
  readonly batches?: boolean | (() => boolean)
  readonly cancellation?: Cancellation
  /** The error as it goes to the other side: where a profile chooses the numbers. */
  readonly toWire?: (error: RpcError) => ErrorObject
  /** Told everything a handler threw that the other side is not told. By default on stderr. */
  readonly onError?: (error: unknown, message?: RpcRequest | RpcNotification) => void
  /** Told of replies that nobody waits for. */
  readonly onStray?: (reply: RpcResult | RpcFailure | Malformed, why: StrayReason) => void
  /** Told of text that was no message; it has been answered. */
  readonly onMalformed?: (what: Malformed) => void
}

/** A callback of the user's that cannot do any harm by throwing. */
export function guarded<A extends unknown[]>(
  callback: ((...args: A) => void) | undefined,
): (...args: A) => void {
  if (callback === undefined) return () => {}
  return (...args) => {
    try {
      callback(...args)
    } catch (error) {
      console.error('trunkline: a callback threw:', error)
    }
  }
}

/** Where failures go that nobody asked for. */
export function printError(error: unknown, message?: RpcRequest | RpcNotification): void {
  // Refusing a notification is no failure of ours, and anyone could fill the log with them.
  if (error instanceof RpcError) return
  console.error(`trunkline: ${message?.method ?? 'a reply'} failed:`, error)
}

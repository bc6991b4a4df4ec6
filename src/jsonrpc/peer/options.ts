import type { Cancellation } from '../cancellation.ts'
import { RpcError } from '../error.ts'
import type {
  Batch,
  ErrorObject,
  Malformed,
  RpcFailure,
  RpcNotification,
  RpcRequest,
  RpcResult,
} from '../message.ts'
import type { OutboundOptions } from './outbound.ts'
import type { StrayReason } from './pending.ts'

/** What a peer may be told. Every limit left out has the default of `docs/limits.md`. */
export interface PeerOptions extends OutboundOptions {
  readonly maxInFlight?: number
  readonly maxQueued?: number
  /** How long requests in flight may still be answered once the other side has stopped talking. */
  readonly endedMs?: number
  /**
   * Told when the other side has stopped talking, before requests in flight are waited for: to end
   * those that have no end of their own.
   */
  readonly onEnded?: () => void
  /** Whether batches of the other side are taken apart; otherwise they are refused. */
  readonly batches?: boolean | ((batch: Batch) => boolean)
  readonly cancellation?: Cancellation
  /** Whether the answer to what has no id, or none that could be read, goes without one instead of null. */
  readonly omitsNullIds?: boolean | (() => boolean)
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

import { isRecord } from '../../util/objects.ts'
import { Warning } from '../../util/warning.ts'
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

/** Options of a Peer. The defaults of its limits are in `docs/limits.md`. */
export interface PeerOptions extends OutboundOptions {
  /** Incoming requests that are handled at the same time. */
  readonly maxInFlight?: number
  /** Incoming requests that wait beyond `maxInFlight`. */
  readonly maxQueued?: number
  /**
   * Milliseconds in which requests in flight can still be answered after the peer has ended its output.
   */
  readonly disconnectDrainMs?: number
  /**
   * Called when the peer has ended its output, before the peer drains its requests in flight: to end
   * those that have no end of their own. With `isDrained`, calls without a response were not executed.
   */
  readonly onDisconnect?: (cause: Error | undefined, isDrained: boolean) => void
  /** Called when the channel accepts no more messages, while calls in flight may still be answered. */
  readonly onRetired?: (cause: Error) => void
  /** Called when calls wait for this side, so that their timeouts are suspended, and when they do no more. */
  readonly onSuspended?: (isSuspended: boolean) => void
  /** Whether incoming batches are accepted; otherwise they are rejected with -32600. */
  readonly batches?: boolean | ((batch: Batch) => boolean)
  /** How requests are cancelled; by default they cannot be. */
  readonly cancellation?: Cancellation
  /** Whether the response to input without a readable id omits the id instead of sending null. */
  readonly omitsNullIds?: boolean | (() => boolean)
  /** Makes the error object that is sent for an error; a profile chooses the codes here. */
  readonly toWire?: (error: RpcError) => ErrorObject
  /** Receives exceptions of handlers that are not sent to the peer. Prints to stderr by default. */
  readonly onError?: (error: unknown, message?: RpcRequest | RpcNotification) => void
  /** Called for replies that match no pending call. */
  readonly onStray?: (reply: RpcResult | RpcFailure | Malformed, why: StrayReason) => void
  /** Called for malformed input, after it was answered. */
  readonly onMalformed?: (what: Malformed) => void
}

/** How a connection closes gracefully. */
export interface CloseOptions {
  /** Milliseconds in which requests in flight may complete; 30 seconds by default. */
  readonly drainMs?: number
  /**
   * Milliseconds without an incoming message before the connection closes: a request that is on its way is
   * answered with an error instead of being lost. By default 0.
   */
  readonly lingerMs?: number
}

/** Wraps a user callback so that an exception in it is printed instead of thrown. */
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

/** The default error handler: prints to stderr. */
export function printError(error: unknown, message?: RpcRequest | RpcNotification): void {
  // Rejecting a notification is not a local failure, and a peer could flood the log with them.
  if (error instanceof RpcError) return
  if (error instanceof Warning) {
    console.error(`trunkline: warning: ${error.message}`)
    return
  }
  console.error(`trunkline: ${message === undefined ? 'a reply' : nameOf(message)} failed:`, error)
}

/** Returns the method of a message, with the name of what it asks for if its params have one. */
function nameOf({ method, params }: RpcRequest | RpcNotification): string {
  const name: unknown = isRecord(params) ? params.name : undefined
  return typeof name === 'string' ? `${method} ${JSON.stringify(name.slice(0, 200))}` : method
}

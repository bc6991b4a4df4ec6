import type { Channel, Envelope } from '../jsonrpc/channel.ts'
import type { DecodeOptions } from '../jsonrpc/codec/decode.ts'
import type { RawCalls } from '../jsonrpc/codec/raw-json.ts'
import type { Exchange } from '../jsonrpc/handler.ts'
import type { RpcNotification, RpcRequest } from '../jsonrpc/message.ts'
import type { CloseOptions } from '../jsonrpc/peer/options.ts'
import type { Traffic } from '../util/traffic.ts'
import type { Caller } from './caller.ts'
import type { ListKind } from './list-changes.ts'
import { decodeOptions, type Profile } from './profile.ts'
import type { Revision } from './revisions/revisions.ts'
import type { ChangeReceiver, ChangeSharing } from './shared-changes.ts'
import type { ClientCapabilities, Implementation, LogLevel } from './types/base.ts'

/** A channel that an endpoint serves. */
export interface Attachment extends AsyncDisposable {
  /**
   * Resolves when the connection has closed and its requests have ended; with the error that closed it,
   * if any.
   */
  readonly closed: Promise<Error | undefined>
  /** Closes gracefully: requests in flight may complete within `drainMs`. Idempotent. */
  close(options?: CloseOptions): Promise<void>
}

/**
 * Answers one message, as a `Handler` of JSON-RPC does. `caller` is the caller of a stateless request,
 * where the transport has read it from the request's `_meta` already; otherwise the endpoint reads it.
 */
export type EndpointHandler = (
  message: RpcRequest | RpcNotification,
  exchange: Exchange,
  caller?: Caller,
) => unknown

/** The state of a session that another process can continue. Plain JSON. */
export interface SessionState {
  /** The date of the negotiated revision. */
  readonly revision: string
  readonly capabilities: ClientCapabilities
  readonly client?: Implementation
  /** Set by `logging/setLevel`. */
  readonly logLevel?: LogLevel
  /** Whether the client has sent `notifications/initialized`, or a request that implies it. */
  readonly isReady: boolean
  /** The URIs of the resources that the client has subscribed to. */
  readonly subscriptions: readonly string[]
  /** The key under which the tasks of the session are stored, where it has no principal. */
  readonly taskKey: string
}

/** How a transport follows the state of a session, and continues one of another process. */
export interface SessionHooks {
  /** The state with which the session begins; absent for a session that begins with `initialize`. */
  readonly state?: SessionState
  /** Called when `state` or `isMovable` of the attachment has changed. */
  onChange(): void
}

/** A channel whose session another process can continue. */
export interface SessionAttachment extends Attachment {
  /** Returns the state of the session; undefined before `initialize` has succeeded. */
  state(): SessionState | undefined
  /**
   * Whether the state is all that another process needs: false while this process has something for the session
   * that no other can have, such as a connection of its own to an upstream server.
   */
  readonly isMovable: boolean
  /** The number of server requests that the client has not answered. */
  readonly pendingCalls: number
  /** Notifies the client that every list and every resource that it has subscribed to may have changed. */
  notifyAll(): void
}

/** The lists of an endpoint that differ between callers, for a router of the same process. */
export interface PersonalLists {
  /** Whether callers see different entries in the lists of this kind. */
  has(kind: ListKind): boolean
  /**
   * Calls the listener when such a list has changed: for the principal with this id, or for all. Returns a
   * function that ends this.
   */
  onChange(listener: (kind: ListKind, principal: string | undefined) => void): () => void
}

/** What a listener serves: a server or a router. */
export interface Endpoint {
  /** The choices that the protocol leaves open, such as how strictly incoming messages are checked. */
  readonly profile: Profile
  /** The revisions it serves, oldest first. */
  readonly revisions: readonly Revision[]
  /** The parts of requests that it only forwards, so that they are not parsed. None by default. */
  readonly rawCalls?: RawCalls
  /** Counts the bytes of all connections of its listeners, if metrics are enabled. */
  readonly traffic?: Traffic
  /** @internal The lists that differ between callers. None by default. */
  readonly personalLists?: PersonalLists
  /** Handles one self-contained message, such as a stateless request over HTTP. */
  readonly handle: EndpointHandler
  /** Serves a channel until it closes, in either era. */
  attach(channel: Channel, envelope?: Envelope): Attachment
  /**
   * @internal Serves a channel whose session another process can continue, or continues one. Throws an RpcError
   * for a revision that is not served, and for more subscriptions than the limit. Absent where sessions end with
   * their process.
   */
  attachSession?(channel: Channel, envelope: Envelope, hooks: SessionHooks): SessionAttachment
  /**
   * @internal Exchanges notices of changed lists and resources with other processes that serve the same endpoint.
   * Absent where every process learns of changes itself, as a router does from its servers.
   */
  shareChanges?(sharing: ChangeSharing): ChangeReceiver
}

/** Returns the decoder options for messages that are sent to an endpoint. */
export function endpointDecodeOptions({ profile, rawCalls }: Endpoint): DecodeOptions {
  return { ...decodeOptions(profile), rawCalls }
}

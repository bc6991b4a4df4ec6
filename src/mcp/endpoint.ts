import type { Channel, Envelope } from '../jsonrpc/channel.ts'
import type { KeptCalls } from '../jsonrpc/codec/raw-json.ts'
import type { Handler } from '../jsonrpc/handler.ts'
import type { Traffic } from '../util/traffic.ts'
import type { Profile } from './profile.ts'
import type { Revision } from './revisions/revisions.ts'

/** A channel that an endpoint has taken over. */
export interface Attachment extends AsyncDisposable {
  /** Settles when everything has ended; with the cause, if it was not in good order. */
  readonly closed: Promise<Error | undefined>
  /** Ends in good order: requests in flight are answered within `drainMs`. Idempotent. */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/** What a listener serves. A server is one, and so is a router. */
export interface Endpoint {
  /** The choices the protocol leaves open: how strictly what arrives is read. */
  readonly profile: Profile
  /** What it serves, oldest first. */
  readonly revisions: readonly Revision[]
  /** What it only passes on of requests, so that it need not be read. Nothing unless said. */
  readonly writtenCalls?: KeptCalls
  /** Counts what passes over the connections of listeners that serve it, where somebody wants to know. */
  readonly traffic?: Traffic
  /** Answers one self-contained message: a stateless request over HTTP is exactly this. */
  readonly handle: Handler
  /** Takes over a channel for as long as it lives, in either era. */
  attach(channel: Channel, envelope?: Envelope): Attachment
}

import type { SharedLog } from './log.ts'
import type { Membership } from './membership.ts'
import type { MessageBus } from './message-bus.ts'
import type { RecordStore } from './record-store.ts'
import type { SharedRates } from './shared-rates.ts'

/**
 * State that the nodes of a cluster share: who is a member, records with an owner, logs, messages and rates.
 * It knows neither MCP nor sessions. `memory()`, `parentBackplane()`, `sqlite()`, `redis()` and `nats()` are the
 * implementations of Trunkline; `backplaneContract` of `trunkline/testing` checks any other.
 *
 * Every method that returns a promise rejects with a `BackplaneError` whose code says whether the operation
 * can have been executed. Every write can be repeated safely after the code `unknown`.
 */
export interface Backplane extends AsyncDisposable {
  /** What it is, for messages to people: `memory`, `redis://10.0.0.9:6379`. Contains no password. */
  readonly name: string
  /** Whether other processes can use the same state. If not, there is no cluster to start. */
  readonly isShared: boolean
  /** Whether operations can succeed at present. */
  readonly isUp: boolean
  /** Calls the listener with each change of state. Returns a function that removes the listener. */
  onStateChange(listener: (state: BackplaneState) => void): () => void
  /**
   * Resolves when operations can succeed. Rejects with `down` after `engineOpenMs`, or when the engine refuses
   * the credentials, and goes on connecting in the background until `close` is called.
   */
  open(): Promise<void>
  /** Ends everything; no timer and no socket stays. Idempotent. Further operations reject with `closed`. */
  close(): Promise<void>
  /** Heartbeats and leases of nodes. */
  readonly membership: Membership
  /** Records with owners, and sets of names. */
  readonly store: RecordStore
  /** Ordered entries that outlive their writer. */
  readonly log: SharedLog
  /** Messages between nodes. */
  readonly bus: MessageBus
  /** Limits that all nodes share. */
  readonly rates: SharedRates
}

/** A change of state of a backplane. */
export interface BackplaneState {
  /** Whether operations can succeed. */
  readonly isUp: boolean
  /** Whether the stored data may be gone: owners must write again what they own. */
  readonly wasEmptied: boolean
}

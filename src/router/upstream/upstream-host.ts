import type { ClientOptions } from '../../client/options.ts'
import type { AuthorizationEvent } from '../../mcp/callers/authorization-event.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { Deadlines } from '../../util/time/deadline.ts'
import type { RememberedServer } from '../catalog/remembered-lists.ts'
import type { UpstreamOptions } from '../options.ts'
import type { BreakerState } from '../policy/breaker.ts'
import type { StartGate } from '../policy/start-gate.ts'
import type { Instance } from './instance.ts'
import type { ListProblem } from './lists/server-lists.ts'

/** What an upstream server needs from its router, and what it reports. */
export interface UpstreamHost {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly client: ClientOptions
  /** How long callers wait for a server that is starting, unless its options say so. */
  readonly startWaitMs: number | undefined
  /** Returns what the server listed in an earlier run. */
  recall(name: string, options: UpstreamOptions): RememberedServer | undefined
  /** Lets processes start in turn. */
  readonly startGate: StartGate
  /** How long an ambiguous server request is held until it can be attributed; 0 rejects it at once. */
  readonly attributionTimeoutMs: number
  /** The resources that callers are subscribed to. Called whenever a connection is opened. */
  subscribed(): Iterable<string>
  /** An instance was started, lost or stopped, or its state changed. */
  onInstance(instance: Instance, event: InstanceEvent): void
  /** The server has described itself, for the first time or in another way than before. */
  onDescribed(): void
  /** The lists of an instance were read, or it was lost; `kinds` are the lists that changed for callers. */
  onLists(instance: Instance, kinds: readonly ListKind[]): void
  /** A list that differs between callers has changed: for the principal with this id, or for all. */
  onPersonalChange(kind: ListKind, principal: string | undefined): void
  /** The tools of an instance were read. */
  onTools(instance: Instance): void
  /** A list could not be read, or for another reason than before. */
  onListFailed(instance: Instance, problem: ListProblem): void
  /** A list that could not be read was read. */
  onListRecovered(instance: Instance, method: string): void
  /** The server has confirmed subscriptions of resources; earlier updates of them may be missed. */
  onSubscribed(uris: readonly string[]): void
  onUpdated(uri: string): void
  /** A token was requested on behalf of a caller, or a user has visited the pages on which access is granted. */
  onAuthorization(event: AuthorizationEvent): void
  onNotification(method: string, params: Members | undefined): void
}

/** An event in the life of an instance. */
export type InstanceEvent =
  | { readonly type: 'ready' | 'stopped' | 'missed' }
  | { readonly type: 'down'; readonly cause: Error | undefined }
  | { readonly type: 'restart'; readonly attempt: number; readonly delayMs: number }
  | { readonly type: 'quarantined'; readonly reason: string }
  | {
      readonly type: 'breaker'
      readonly from: BreakerState
      readonly to: BreakerState
      readonly why: string
    }

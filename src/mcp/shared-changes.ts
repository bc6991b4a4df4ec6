import type { ListKind } from './list-changes.ts'

/** A change that the clients of another process are notified of, too. */
export type SharedChange =
  | {
      readonly type: ListKind
      /** The id of the principal for which alone the list has changed; undefined for all. */
      readonly principal?: string
    }
  | { readonly type: 'resource'; readonly uri: string }

/** Carries changes to the other processes that serve the same endpoint. */
export interface ChangeSharing {
  /** Called with each change of this process. */
  publish(change: SharedChange): void
  /** Called when a resource gets its first subscriber in this process (true), and when it loses its last one. */
  watch(uri: string, isWatched: boolean): void
  /** Settles when changes of these resources, which are watched, arrive from other processes. Never rejects. */
  whenWatched(uris: Iterable<string>): Promise<void>
}

/** Receives the changes of other processes. */
export interface ChangeReceiver {
  /** Notifies the clients of this process. */
  deliver(change: SharedChange): void
  /** The lists of the endpoint that can change. */
  lists(): readonly ListKind[]
}

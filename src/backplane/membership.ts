/** Who is a member of the cluster, measured by one clock: that of the engine. */
export interface Membership {
  /**
   * Renews the lease of a node for `leaseMs`, or begins one. `facts` is a text that other members read; `since`
   * is the revision of the previous heartbeat, 0 for the first.
   */
  heartbeat(node: string, facts: string, leaseMs: number, since: number): Promise<HeartbeatReply>
  /**
   * Ends the lease of a node whose last heartbeat is more than `silentMs` ago. Resolves to whether the node is
   * not a member any more.
   */
  expel(node: string, silentMs: number): Promise<boolean>
  /** Ends the lease of a node that shuts down. */
  leave(node: string): Promise<void>
}

/** What a heartbeat returns. */
export interface HeartbeatReply {
  /** The revision to pass to the next heartbeat. */
  readonly revision: number
  /** The members that joined, left or changed their facts since the given revision. */
  readonly changed: readonly ClusterMember[]
  /** Whether `changed` lists all members: a node that it does not list is none. */
  readonly isComplete: boolean
  /** Whether the lease of this node had ended before: it ran out, or another node expelled this one. */
  readonly wasExpelled: boolean
}

/** A member of the cluster, or a node that has left it. */
export interface ClusterMember {
  /** The id of the node. */
  readonly node: string
  /** The text of its last heartbeat. */
  readonly facts: string
  /** Whether its lease holds. */
  readonly isAlive: boolean
  /** The time since its last heartbeat, by the clock of the engine. */
  readonly silentMs: number
}

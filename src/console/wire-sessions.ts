// The types of the page "Sessions". The page imports these types and nothing else of this folder.

/** A connection of a caller. */
export interface SessionRow {
  /** Names the connection in requests to the console. It is not the session id, which is a secret. */
  readonly handle: string
  readonly client?: string | undefined
  readonly version?: string | undefined
  readonly principal?: string | undefined
  readonly revision?: string | undefined
  readonly transport?: string | undefined
  /** When it was accepted, in milliseconds since 1970. */
  readonly openedAt: number
  readonly inFlight: number
  /** Server requests that the client has not answered. */
  readonly serverRequests: number
  readonly openStreams: number
  /** How many resources the client has subscribed to. */
  readonly subscriptions: number
  /** Whether it is a connection of the console itself. */
  readonly isOurs?: boolean | undefined
}

/** A resource that callers have subscribed to. */
export interface SubscriptionRow {
  readonly uri: string
  readonly count: number
}

/** A call that has become a task and has not ended. */
export interface TaskRow {
  /** Names the task in requests to the console. It is not the id of the task, which is a secret. */
  readonly handle: string
  readonly tool: string
  readonly status: string
  readonly message?: string | undefined
  readonly principal?: string | undefined
  /** In milliseconds since 1970. */
  readonly createdAt: number
  /** When the task is forgotten, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** The answer to `GET api/sessions`: the oldest rows of each kind, and how many there are in all. */
export interface SessionsAnswer {
  readonly sessions: readonly SessionRow[]
  readonly sessionCount: number
  readonly subscriptions: readonly SubscriptionRow[]
  readonly subscriptionCount: number
  readonly tasks: readonly TaskRow[]
  readonly taskCount: number
}

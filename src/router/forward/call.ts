import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { LogLevel } from '../../mcp/types/logging.ts'
import type { LiveCall } from '../../observe/call.ts'
import type { Lane } from '../connection/connection.ts'
import type { LaneUser } from '../connection/connection-pool.ts'
import type { RetryFacts } from '../policy/retry.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Abort } from './errand.ts'

/** One call to a server, whichever instance gets it. */
export interface Call extends LaneUser {
  /** A middleware may make another one of these two. */
  method: string
  params: object
  readonly abort: Abort
  readonly timeoutMs: number
  /** How long it has waited for its turn, which is a part of that. */
  waitedMs?: number
  /** Whether members of the result may stay the text they came as; not where somebody looks at them. */
  takesWritten?: boolean
  /** Whether it may be made twice. */
  readonly safety: Pick<RetryFacts, 'isReadOnly' | 'isIdempotent'>
  /** The only instance that will do. */
  readonly pinned?: Instance
  /** The tool that is called, by the name that its server gives it. */
  readonly tool?: string
  /** Of the request of the caller, where it came over HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the instance is chosen by, where that is by a hash. */
  hashKey?: string
  /** The least severe log messages that the caller has asked for. */
  readonly logLevel?: LogLevel
  /** The call as those who listen hear of it. */
  readonly live?: LiveCall
  /** What is told of the caller, where the server has to be told with each request. */
  sender(revision: Revision): object
}

/** Who answered a call. */
export interface Source {
  readonly instance: Instance
  readonly lane: Lane
  readonly revision: Revision
}

/** What a call gave. */
export interface Delivered {
  readonly result: unknown
  /** Undefined where a middleware has answered instead. */
  readonly from?: Source
  /** How often it was tried again. */
  readonly retries: number
}

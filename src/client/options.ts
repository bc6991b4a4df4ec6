import type { Profile, ProfileName } from '../mcp/profile.ts'
import type { Revision, RevisionName } from '../mcp/revisions/revisions.ts'
import type { Implementation, Members } from '../mcp/types/base.ts'
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from '../mcp/types/elicitation.ts'
import type { LogMessageParams } from '../mcp/types/logging.ts'
import type { Root } from '../mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../mcp/types/sampling.ts'
import type { Clock } from '../util/time/clock.ts'

/** The second argument of handlers of server requests. */
export interface ServerRequestContext {
  /** Aborted when the server has cancelled the request or the connection has closed. */
  readonly signal: AbortSignal
  /** The name of the server that sends the request, where a router is in between; undefined without one. */
  readonly server?: string
}

/** A log message as `onLog` gets it. */
export interface LogMessage extends LogMessageParams {
  /** The name of the server that sends it, where a router is in between; undefined without one. */
  readonly server?: string
}

/** Asks the user to fill in a form. Fields that the handler omits are set to the defaults of the form. */
export type ElicitForm = (
  form: ElicitFormParams,
  context: ServerRequestContext,
) => ElicitResult | Promise<ElicitResult>

/**
 * Asks the user to visit a web page. The handler must show the whole URL and ask before it opens the page.
 * `accept` means that the user agreed to open the page, not that the interaction there is finished.
 */
export type ElicitUrl = (
  page: ElicitUrlParams,
  context: ServerRequestContext,
) => ElicitResult | Promise<ElicitResult>

/** Runs a model for the server (`sampling/createMessage`). Throws to refuse. */
export type Sample = (
  request: SampleParams,
  context: ServerRequestContext,
) => SampleResult | Promise<SampleResult>

/** The directories and files that a server may work in, or a function that returns them on request. */
export type Roots = readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>)

/** How the client reconnects: a child process is started again, a socket connected again. */
export interface ReconnectOptions {
  /** Attempts in a row before the client closes; 0 never reconnects. The count is reset after `stableMs`. */
  readonly attempts?: number
  /** Longest wait before the second attempt, doubled for each further one. The first attempt is immediate. */
  readonly baseMs?: number
  /** Longest wait before any attempt. */
  readonly maxMs?: number
  /** How long a connection must stay open before the attempts are counted from 0 again. */
  readonly stableMs?: number
  /** Returns a number between 0 and 1: the part of the longest wait to wait (jitter). */
  readonly random?: () => number
}

/** How the client pings the server of a session. */
export interface HeartbeatOptions {
  /** The interval; 0 never pings, which is the default, because a closed connection is noticed anyway. */
  readonly everyMs?: number
  /** How long the response may take before the connection counts as lost and the client reconnects. */
  readonly waitMs?: number
}

/** What a client found out about a server when it last connected to it. */
export interface KnownVersion {
  /** Whether the server has sessions (starts with `initialize`) or is stateless. */
  readonly era: 'session' | 'stateless'
  /** When that was, in milliseconds since 1970. */
  readonly at: number
}

/** Stores known versions by key. A `Map` is one; so is anything that outlives the process. */
export interface VersionStore {
  /** Returns what is known of a server; undefined if nothing is. */
  get(key: string): KnownVersion | undefined
  /** Stores what was found out about a server, and replaces what was known. */
  set(key: string, version: KnownVersion): unknown
  /** Forgets a server, so that its era is negotiated anew. */
  delete(key: string): unknown
}

/** The store of the version cache, and the key of this server in it. */
export interface VersionCacheOptions {
  /** Identifies this server in the store, such as its address. */
  readonly key: string
  /** Where the era of each server is kept, such as a `Map`. */
  readonly store: VersionStore
}

/** Options of a client. All are optional. */
export interface ClientOptions extends Partial<Implementation> {
  /** Handles elicitation: a function for forms, or handlers for forms and URLs. Without it, it is not declared. */
  readonly elicit?:
    | ElicitForm
    | {
        /** Asks the user to fill in a form. Without it, forms are not declared. */
        readonly form?: ElicitForm
        /** Asks the user to visit a web page. Without it, URLs are not declared. */
        readonly url?: ElicitUrl
      }
  /** Handles sampling requests. Without it, the capability is not declared. */
  readonly sample?: Sample
  /** Optional features that `sample` supports. */
  readonly sampling?: {
    /** Whether the model can use tools that the server defines in the request. */
    readonly tools?: boolean
    /** Whether the prompt can include context from other servers. */
    readonly context?: boolean
  }
  /** The roots of this client. Without it, the capability is not declared. */
  readonly roots?: Roots
  /** Allowed sampling requests, and allowed elicitation requests, per minute; unlimited by default. */
  readonly serverRequestsPerMinute?: number
  /** Default timeout of calls: how long to wait for the response or for progress; 0 waits for ever. */
  readonly timeoutMs?: number
  /** Default total time of a call, however much progress it reports. */
  readonly maxTotalMs?: number
  /** `'auto'` negotiates session or stateless revisions; the others allow only theirs. */
  readonly era?: 'auto' | 'session' | 'stateless'
  /** How long to wait for the response to `server/discover` before the client sends `initialize`. */
  readonly discoverTimeoutMs?: number
  /** The protocol revisions that it may use, by their dates, such as `'2025-11-25'`; all by default. */
  readonly revisions?: readonly (RevisionName | Revision)[]
  /** Whether to reject requests that the server has not declared a capability for, before sending them. */
  readonly strict?: boolean
  /** The error profile: which codes errors have on the wire; that of the specification by default. */
  readonly profile?: ProfileName | Profile
  /** Whether the server may turn calls into tasks (declares the tasks capability); true by default. */
  readonly tasks?: boolean
  /** Settings of further extensions that this client supports, by prefixed name. */
  readonly extensions?: Readonly<Record<string, Members>>
  /** Experimental capabilities to declare. */
  readonly experimental?: Readonly<Record<string, Members>>
  /** Called with every notification, by its canonical name, after the client has processed it. */
  readonly onNotification?: (method: string, params: Members | undefined) => void
  /** Called with log messages of the server. */
  readonly onLog?: (message: LogMessage) => void
  /** Called with errors outside of calls: handlers that threw, invalid messages. Prints to stderr by default. */
  readonly onError?: (error: unknown) => void
  /** How the client reconnects when the connection is lost; `false` closes the client instead. */
  readonly reconnect?: ReconnectOptions | false
  /** How the client pings the server of a session; not at all by default. */
  readonly heartbeat?: HeartbeatOptions
  /** Where the client stores the era of the server; `connect` uses a cache of the process by default. */
  readonly versionCache?: VersionCacheOptions
  /** Aborts opening the client. Has no effect once the client is open. */
  readonly signal?: AbortSignal
  /** The clock for timeouts and expiry; for tests. */
  readonly clock?: Clock
}

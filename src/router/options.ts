import type { Middleware } from '../jsonrpc/handler.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import type { Icon } from '../mcp/types/base.ts'
import type { TaskOptions } from '../server/tasks/registry.ts'
import type { Clock } from '../util/time/clock.ts'
import type { Pins } from './pins/pins.ts'
import type { BalanceStrategy } from './policy/balance.ts'

export type { BalanceStrategy } from './policy/balance.ts'

/** The key of consistent hashing: the caller's principal, a header of the call, or one of its arguments. */
export type HashKey = 'principal' | { readonly header: string } | { readonly argument: string }

/** Rate and concurrency limits for calls: of the router, a server, a caller or a tool. */
export interface CallLimits {
  /** Sustained rate, in calls per second. */
  readonly perSecond?: number
  /** Calls allowed in one burst; by default as many as `perSecond`. */
  readonly burst?: number
  /** Maximum number of concurrent calls. */
  readonly concurrent?: number
  /** Calls that may wait while `concurrent` is reached; a further call is rejected. */
  readonly queue?: number
}

/** Call limits of one upstream server. */
export interface UpstreamLimits extends CallLimits {
  /** Limits of each caller, counted separately. */
  readonly perCaller?: CallLimits
  /** Limits of single tools, keyed by the upstream tool name. */
  readonly tools?: Readonly<Record<string, CallLimits>>
}

/** Settings of the circuit breaker that each instance has. */
export interface BreakerOptions {
  /** Consecutive failures that open the breaker. */
  readonly failures?: number
  /** Share of failures within `window` that opens the breaker, from 0 to 1. */
  readonly ratio?: number
  /** Number of recent calls over which `ratio` is measured; with fewer calls `ratio` is ignored. */
  readonly window?: number
  /** Time the breaker stays open before it becomes half-open, in milliseconds. */
  readonly openMs?: number
  /** Consecutive successful probes that close a half-open breaker. */
  readonly successes?: number
}

/** How the router restarts a process that exited and reopens a lost connection. */
export interface RestartOptions {
  /** Restarts allowed within `windowMs`; beyond that the instance is quarantined until `router.retry()`. */
  readonly maxRestarts?: number
  /** The window over which restarts are counted, in milliseconds. */
  readonly windowMs?: number
  /** Maximum delay before the first restart, in milliseconds; it doubles with each further one. */
  readonly minMs?: number
  /** Maximum delay before any restart, in milliseconds. */
  readonly maxMs?: number
}

/** How the router retries failed calls on another instance, if the call certainly takes effect only once. */
export interface RetryOptions {
  /** Attempts per call, the first included; 1 disables retries. */
  readonly attempts?: number
  /** Share of calls that may be retried, from 0 to 1. */
  readonly budget?: number
  /**
   * Upstream names of the tools that you declare safe to retry; `*` matches any characters. The
   * annotations of a server count only with `trustAnnotations`.
   */
  readonly tools?: readonly string[]
}

/** Settings of the health checks (pings) of each instance. */
export interface HealthOptions {
  /** Interval between checks, in milliseconds; 0 disables them. */
  readonly intervalMs?: number
  /** Time to wait for a response, in milliseconds. */
  readonly timeoutMs?: number
  /** Consecutive failed checks after which the instance is reconnected or restarted. */
  readonly failures?: number
}

/** Which tools of a server callers see, and how. Keys and patterns are upstream tool names; `*` matches any characters. */
export interface ToolRules {
  /** Exposes only these tools. */
  readonly allow?: readonly string[]
  /** Hides these tools; `deny` wins over `allow`. */
  readonly deny?: readonly string[]
  /** Replacement names, without the prefix. */
  readonly rename?: Readonly<Record<string, string>>
  /** Replacement descriptions. */
  readonly describe?: Readonly<Record<string, string>>
  /** The reaction to a tool whose definition differs from the pinned one. By default `'warn'`. */
  readonly pin?: 'off' | 'warn' | 'block'
}

/** The address of one instance of a server, with its load-balancing weight (default 1). */
export type InstanceUrl = string | { readonly url: string; readonly weight?: number }

/**
 * One upstream server. Exactly one of these says where it runs: a process to start (`command`), one
 * or more addresses (`url`, `urls`), or an endpoint in this process (`server`).
 */
export interface UpstreamOptions {
  readonly command?: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** Additional environment variables of the process. */
  readonly env?: Readonly<Record<string, string>>
  /** Names of environment variables that the process inherits, in addition to a minimal default set. */
  readonly inheritEnv?: readonly string[]
  /** Number of processes to run. */
  readonly instances?: number

  readonly url?: string
  readonly urls?: readonly InstanceUrl[]
  /** HTTP headers of every request and of WebSocket handshakes. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Whether calls to a stateless HTTP server use a WebSocket if the server offers one. By default
   * true.
   */
  readonly websocket?: boolean
  /** The transport, as the configuration files of other hosts name it; the address implies it. */
  readonly type?: 'stdio' | 'http' | 'streamable-http' | 'sse' | 'ws' | 'websocket'

  readonly server?: Endpoint

  /** A disabled server is neither started nor listed. */
  readonly disabled?: boolean
  /** Prefix of tool and prompt names; `false` for none. By default `name__`. */
  readonly prefix?: string | false
  readonly tools?: ToolRules
  readonly balance?: BalanceStrategy
  readonly hash?: HashKey
  /** Timeout of a call without a response or progress, in milliseconds. */
  readonly timeoutMs?: number
  /** Timeout for opening a connection, starting the process included, in milliseconds. */
  readonly connectTimeoutMs?: number
  readonly breaker?: BreakerOptions | false
  readonly limits?: UpstreamLimits
  readonly restart?: RestartOptions | false
  readonly retry?: RetryOptions
  /** Whether to trust `readOnlyHint` and `idempotentHint` of the server's tools. By default false. */
  readonly trustAnnotations?: boolean
  readonly health?: HealthOptions
  /**
   * Which callers share a connection to a session-based server: those with the same client
   * capabilities (`'compatible'`), all (`'shared'`), or none (`'per-caller'`). By default `'shared'`
   * for a process and `'compatible'` for an address.
   */
  readonly connections?: 'compatible' | 'shared' | 'per-caller'
  /** Middleware around every call to this server. */
  readonly use?: readonly Middleware[]
}

/** Options of a {@link Router}. */
export interface RouterOptions {
  /** The upstream servers by name. A `Server` is short for `{ server }`. */
  readonly servers?: Readonly<Record<string, UpstreamOptions | Endpoint>>
  /** The name the router reports to its callers and to upstream servers. */
  readonly name?: string
  readonly version?: string
  readonly title?: string
  readonly icons?: readonly Icon[]
  readonly instructions?: string
  /** Entries per page of a list. */
  readonly pageSize?: number
  /** Keys that encrypt the state carried by callers, newest first; identical in all processes behind one address. */
  readonly keys?: readonly Uint8Array[]
  /** Task storage: where tasks are kept, for how long and how many. */
  readonly tasks?: TaskOptions
  /** Limits of all calls together and of each caller. */
  readonly limits?: CallLimits & { readonly perCaller?: CallLimits }
  /** Middleware around every call to any upstream server, outside the server's own `use`. */
  readonly outbound?: readonly Middleware[]
  /** How long a call of a stateless caller stays parked for the response to a server request, in milliseconds. */
  readonly parkedMs?: number
  /**
   * How long a server request that could belong to several callers waits to be attributed to one of
   * them, in milliseconds; 0 rejects it immediately.
   */
  readonly attributionTimeoutMs?: number
  /** Pinned tool definitions, for example from an earlier run. By default none. */
  readonly pins?: Pins
  /** Called when a tool was pinned, changed or approved, so that the pins can be saved. */
  readonly onPinned?: (pins: Pins) => void
  readonly clock?: Clock
  /** Called with errors that are not returned to a caller. By default they are written to stderr. */
  readonly onError?: (error: unknown) => void
}

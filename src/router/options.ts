import type { Middleware } from '../jsonrpc/handler.ts'
import type { CallerCredentials } from '../mcp/callers/caller-credentials.ts'
import type { Credentials, UpstreamAuth, UpstreamCallerAuth } from '../mcp/credentials.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import type { Icon } from '../mcp/types/base.ts'
import type { AuditSink } from '../observe/audit/record.ts'
import type { TaskOptions } from '../server/tasks/registry.ts'
import type { SealingKeys } from '../util/crypto/keys.ts'
import type { Clock } from '../util/time/clock.ts'
import type { AccessPolicy } from './access/policy.ts'
import type { RememberedLists } from './catalog/remembered-lists.ts'
import type { Pins } from './pins/pins.ts'
import type { BalanceStrategy } from './policy/balance.ts'
import type { SharedBuckets } from './policy/shared-rate.ts'

export type { BalanceStrategy } from './policy/balance.ts'

/** The key of consistent hashing: the caller's principal, a header of the call, or one of its arguments. */
export type HashKey =
  | 'principal'
  | {
      /** The name of the header. */
      readonly header: string
    }
  | {
      /** The name of the argument. */
      readonly argument: string
    }

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
  /**
   * What `perSecond` counts in a cluster: the calls of all nodes, by default, or those of each node. `concurrent`
   * always counts those of each node.
   */
  readonly scope?: 'cluster' | 'node'
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
  /**
   * Restarts allowed within `windowMs` of an instance that fails to start, or exits before it answers a call;
   * beyond that it is quarantined until `router.retry()`. Any other instance is restarted at once, however often.
   */
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

/** How many connections a router has to each instance of a server. */
export interface PoolOptions {
  /** Connections that are kept open, used or not; one that is lost or does not respond is replaced. */
  readonly min?: number
  /** Connections at most, opened while all others have calls in flight and closed when they are idle. */
  readonly max?: number
}

/** How urgent a call is, compared with others that wait for the same limit. */
export type Priority = 'high' | 'normal' | 'low'

/** The priority of the calls that match all patterns of the rule; `*` matches any characters. */
export interface PriorityRule {
  /** The name of the server. */
  readonly server?: string
  /** The upstream name of the tool; other requests have none. */
  readonly tool?: string
  /** The id of the authenticated caller; empty for one without. */
  readonly principal?: string
  /** The name that the client gives itself, which is not verified. */
  readonly client?: string
  /** By default `normal`; `caller` is what the caller asks for in `_meta`, under `trunkline/priority`. */
  readonly priority?: Priority | 'caller'
}

/** Which refused and undeliverable calls a router keeps for inspection. */
export interface DeadLetterOptions {
  /** The number of calls; a further one replaces the oldest. 0 keeps none. */
  readonly max?: number
  /** Whether to keep the params of the calls, which may be secret. By default false. */
  readonly params?: boolean
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

/**
 * Which tools of a server callers see, and how. Keys and patterns are upstream tool names; `*` matches any
 * characters.
 */
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
export type InstanceUrl =
  | string
  | {
      /** The address of the instance. */
      readonly url: string
      /** Its share of the calls, relative to the other instances; 1 by default. */
      readonly weight?: number
    }

/**
 * One upstream server. Exactly one of these says where it runs: a process to start (`command`), one
 * or more addresses (`url`, `urls`), or an endpoint in this process (`server`).
 */
export interface UpstreamOptions {
  /** The program to start, which speaks over its standard input and output. */
  readonly command?: string
  /** The arguments of the program. */
  readonly args?: readonly string[]
  /** The folder in which the program starts. */
  readonly cwd?: string
  /** Additional environment variables of the process. */
  readonly env?: Readonly<Record<string, string>>
  /** Names of environment variables that the process inherits, in addition to a minimal default set. */
  readonly inheritEnv?: readonly string[]
  /** Number of processes to run. */
  readonly instances?: number

  /** The address of a running server. */
  readonly url?: string
  /** The addresses of several instances of a server, which share its calls. */
  readonly urls?: readonly InstanceUrl[]
  /** HTTP headers of every request and of WebSocket handshakes. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Authorizes the requests to a server at an HTTP or WebSocket address: credentials of `trunkline/auth`, or a
   * description of them as in a configuration file. With credentials for each caller, such as those of `exchange`, the
   * server sees the caller, and no two callers share a connection or a list. A token of a caller is never forwarded.
   */
  readonly auth?: Credentials | UpstreamAuth | CallerCredentials | UpstreamCallerAuth
  /**
   * Credentials of the router for lists, health checks and subscriptions of a server whose calls are authorized for each
   * caller. By default each caller gets the lists that the server has for it.
   */
  readonly lister?: Credentials | UpstreamAuth
  /**
   * Whether calls to a stateless HTTP server use a WebSocket if the server offers one. By default
   * true.
   */
  readonly websocket?: boolean
  /** The transport, as the configuration files of other hosts name it; the address implies it. */
  readonly type?: 'stdio' | 'http' | 'streamable-http' | 'sse' | 'ws' | 'websocket'

  /** A server in this process. */
  readonly server?: Endpoint

  /**
   * Why the server cannot be started, if its configuration is invalid. Such a server is down with this reason,
   * and needs none of `command`, `url`, `urls` and `server`.
   */
  readonly configError?: string

  /** A disabled server is neither started nor listed. */
  readonly disabled?: boolean
  /**
   * When the server is started: with the router, or when a caller first uses it: calls one of its tools, or
   * lists them while they are not remembered. By default `'at-once'`.
   */
  readonly start?: 'at-once' | 'first-use'
  /** Prefix of tool and prompt names; `false` for none. By default `name__`. */
  readonly prefix?: string | false
  /** Which tools callers see, and how they are named and pinned. */
  readonly tools?: ToolRules
  /** How an instance is chosen for a call. */
  readonly balance?: BalanceStrategy
  /** What `balance: "hash"` computes the instance from. */
  readonly hash?: HashKey
  /** Timeout of a call without a response or progress, in milliseconds. */
  readonly timeoutMs?: number
  /** Timeout for opening a connection, starting the process included, in milliseconds. */
  readonly connectTimeoutMs?: number
  /**
   * How long calls and first lists wait for the server while it starts, in milliseconds. By default the
   * `startWaitMs` of the router, or else `connectTimeoutMs` for the first start and 5 s for a restart.
   */
  readonly startWaitMs?: number
  /** When calls to a failing instance stop; `false` for never. */
  readonly breaker?: BreakerOptions | false
  /** Limits of the calls to this server. */
  readonly limits?: UpstreamLimits
  /** How a process is restarted or a connection reopened; `false` for never. */
  readonly restart?: RestartOptions | false
  /** Which calls are retried, and how often. */
  readonly retry?: RetryOptions
  /** Whether to trust `readOnlyHint` and `idempotentHint` of the server's tools. By default false. */
  readonly trustAnnotations?: boolean
  /** How often the server is checked. */
  readonly health?: HealthOptions
  /**
   * Which callers share a connection to a session-based server: those with the same client
   * capabilities (`'compatible'`), all (`'shared'`), or none (`'per-caller'`). By default `'shared'`
   * for a process and `'compatible'` for an address.
   */
  readonly connections?: 'compatible' | 'shared' | 'per-caller'
  /**
   * Spreads calls over several connections to each instance, for an address only: of a program run several
   * `instances`. By default all calls that can share a connection do.
   */
  readonly pool?: PoolOptions
  /** Middleware around every call to this server. */
  readonly use?: readonly Middleware[]
}

/**
 * Settings of tool search, which replaces a long list of tools by a tool that finds them and one that calls
 * them.
 */
export interface ToolSearchOptions {
  /** The number of tools up to which all are listed. By default no number of tools is. */
  readonly above?: number
  /** Exposed names of tools that stay listed; `*` matches any characters. */
  readonly visible?: readonly string[]
  /** Tools that one search returns at most. */
  readonly results?: number
}

/** The callers that match all patterns of the rule; `*` matches any characters. */
export interface CallerRule {
  /** The id of the authenticated caller; empty for one without. */
  readonly principal?: string
  /** The name that the client gives itself, which nobody has verified. */
  readonly client?: string
}

/**
 * A part of a router: its callers see and call only some of the servers and tools. By default everything.
 * Patterns: `*` matches any characters.
 */
export interface ViewOptions {
  /** The names of the servers whose tools, prompts and resources the view has. */
  readonly servers?: readonly string[]
  /** Which tools of these servers the view has, by the names that callers see. */
  readonly tools?: {
    /** Only these tools. */
    readonly allow?: readonly string[]
    /** None of these tools; `deny` wins over `allow`. */
    readonly deny?: readonly string[]
  }
  /** Tool search in this view; `false` for none. By default that of the router. */
  readonly toolSearch?: ToolSearchOptions | false
  /** How to use the tools of the view, for the model. By default the `instructions` of the router. */
  readonly instructions?: string
  /** The callers who have this view at the addresses of the router; the first view that matches. By default none. */
  readonly callers?: readonly CallerRule[]
}

/** Options of a {@link Router}. */
export interface RouterOptions {
  /** The upstream servers by name. A `Server` is short for `{ server }`. */
  readonly servers?: Readonly<Record<string, UpstreamOptions | Endpoint>>
  /** The name the router reports to its callers and to upstream servers. */
  readonly name?: string
  /** The version that the router reports. */
  readonly version?: string
  /** The display name that the router reports. */
  readonly title?: string
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** How to use the tools, for the model. */
  readonly instructions?: string
  /** Entries per page of a list. */
  readonly pageSize?: number
  /**
   * Keys that encrypt the state carried by callers, newest first; identical in all processes behind one
   * address. The nodes of a cluster share a ring of keys: see `sharedKeys` of `trunkline/cluster`.
   */
  readonly keys?: SealingKeys
  /** Task storage: where tasks are kept, for how long and how many. */
  readonly tasks?: TaskOptions
  /** Limits of all calls together and of each caller. */
  readonly limits?: CallLimits & {
    /** Limits of each caller by itself. */
    readonly perCaller?: CallLimits
  }
  /** Counts the rates of `limits` together with other routers; see `up --cluster`. By default this router counts alone. */
  readonly sharedRates?: SharedBuckets
  /** Middleware around every call to any upstream server, outside the server's own `use`. */
  readonly outbound?: readonly Middleware[]
  /** Replaces a long list of tools by `search_tools` and `call_tool`. By default every tool is listed. */
  readonly toolSearch?: ToolSearchOptions
  /** Who may see and use which tools, prompts and resources. By default every caller may use all. */
  readonly policy?: AccessPolicy
  /** Records every decision on a call; see `AuditLog` of `trunkline/observe`. By default nothing is recorded. */
  readonly audit?: AuditSink
  /** Parts of the router, by name: for some callers, or for an address of their own (`router.view`). */
  readonly views?: Readonly<Record<string, ViewOptions>>
  /** Lists of an earlier run, which callers get while servers start. By default none. */
  readonly remembered?: RememberedLists
  /** Called when `remembered` has changed, so that it can be saved. */
  readonly onRemembered?: () => void
  /** Server processes that start at the same time; the others start in turn. By default two per processor core. */
  readonly concurrentStarts?: number
  /** How long calls and first lists wait for a server while it starts, in milliseconds. See `UpstreamOptions`. */
  readonly startWaitMs?: number
  /** How long a call of a stateless caller stays parked for the response to a server request, in milliseconds. */
  readonly parkedMs?: number
  /**
   * How long a server request that could belong to several callers waits to be attributed to one of
   * them, in milliseconds; 0 rejects it immediately.
   */
  readonly attributionTimeoutMs?: number
  /**
   * The priorities of calls that wait for a `concurrent` limit; the first rule that matches a call decides.
   * Without one a call is `normal`, or `low` if its caller asks for that.
   */
  readonly priorities?: readonly PriorityRule[]
  /** Which refused and undeliverable calls `router.deadLetters()` returns. */
  readonly deadLetters?: DeadLetterOptions
  /** Pinned tool definitions, for example from an earlier run. By default none. */
  readonly pins?: Pins
  /** Called when a tool was pinned, changed or approved, so that the pins can be saved. */
  readonly onPinned?: (pins: Pins) => void
  /** The clock of all timeouts, for tests. */
  readonly clock?: Clock
  /** Called with errors that are not returned to a caller. By default they are written to stderr. */
  readonly onError?: (error: unknown) => void
}

import type { Middleware } from '../jsonrpc/handler.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import type { Icon } from '../mcp/types/base.ts'
import type { TaskOptions } from '../server/tasks/tasks.ts'
import type { Clock } from '../util/time/clock.ts'
import type { Pins } from './pins/pins.ts'

/** How calls are spread over the instances of one server. */
export type BalanceName =
  | 'round-robin'
  | 'weighted'
  | 'least-busy'
  | 'two-choices'
  | 'adaptive'
  | 'hash'

/** What a consistent hash is taken of: who calls, a header of the call, or one of its arguments. */
export type HashBy = 'principal' | { readonly header: string } | { readonly argument: string }

/** How many calls are let through, of whatever the limits belong to. */
export interface CallLimits {
  /** Calls per second, in the long run. */
  readonly perSecond?: number
  /** Calls that may come at once after a pause; by default as many as `perSecond`. */
  readonly burst?: number
  /** Calls at one time. */
  readonly concurrent?: number
  /** Calls that wait for their turn where `concurrent` is reached; one more is refused. */
  readonly queue?: number
}

/** The limits of one server behind the router. */
export interface UpstreamLimits extends CallLimits {
  /** The same for each caller by itself. */
  readonly perCaller?: CallLimits
  /** The same for single tools, by the names that the server gives them. */
  readonly tools?: Readonly<Record<string, CallLimits>>
}

/** When an instance counts as broken, and when it is tried again. */
export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures?: number
  /** The share of failures in the window that opens it, from 0 to 1. */
  readonly ratio?: number
  /** Calls that the share is taken of; before there are as many it is not looked at. */
  readonly window?: number
  /** How long it stays open before it is tried again. */
  readonly openMs?: number
  /** Successes in a row, while it is tried, that close it. */
  readonly successes?: number
}

/** How a program that ended is started again, and a lost connection opened again. */
export interface RestartOptions {
  /** How often within `withinMs`; one more and the instance is put away until somebody looks. */
  readonly most?: number
  readonly withinMs?: number
  /** The wait before the first attempt; it doubles from one to the next. */
  readonly minMs?: number
  readonly maxMs?: number
}

/** Calls that are made again elsewhere, where it is certain that nothing happens twice. */
export interface RetryOptions {
  /** Attempts of one call altogether; 1 is none but the first. */
  readonly attempts?: number
  /** The share of calls that may be made again, from 0 to 1. */
  readonly budget?: number
  /**
   * Tools that may be called twice, by your word and by the names that the server gives them; `*`
   * stands for anything. What a server says of its tools counts only with `trustAnnotations`.
   */
  readonly tools?: readonly string[]
}

/** How an instance is asked whether it lives. */
export interface HealthOptions {
  /** How often; 0 never asks. */
  readonly everyMs?: number
  readonly timeoutMs?: number
  /** Answers missed in a row after which it gets no calls. */
  readonly failures?: number
}

/** What callers see of the tools of a server. Names are those the server gives; `*` stands for anything. */
export interface ToolRules {
  /** Only these. */
  readonly allow?: readonly string[]
  /** All but these. Denied wins over allowed. */
  readonly deny?: readonly string[]
  /** Other names, before the prefix is put in front. */
  readonly rename?: Readonly<Record<string, string>>
  /** Other descriptions. */
  readonly describe?: Readonly<Record<string, string>>
  /** What happens when the definition of a tool is not the one it was first seen with. */
  readonly pin?: 'off' | 'warn' | 'block'
}

/** Where one instance of a server is reached. */
export type InstanceUrl = string | { readonly url: string; readonly weight?: number }

/**
 * One server behind the router. It is a program to start (`command`), one or several addresses
 * (`url`, `urls`), or a server of this process (`server`): exactly one of these.
 */
export interface UpstreamOptions {
  readonly command?: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** Further environment variables of the program. */
  readonly env?: Readonly<Record<string, string>>
  /** Environment variables of this process that the program gets too, beside the few that every one gets. */
  readonly inheritEnv?: readonly string[]
  /** How many of the program run. */
  readonly instances?: number

  readonly url?: string
  readonly urls?: readonly InstanceUrl[]
  /** Sent with every request over HTTP, and with the handshake of a WebSocket. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Whether calls to a stateless server at an address of HTTP go over a WebSocket where it says that it
   * takes one; unless said otherwise they do.
   */
  readonly websocket?: boolean
  /** How it is connected to, in the words of other programs' files; the address says it already. */
  readonly type?: 'stdio' | 'http' | 'streamable-http' | 'sse' | 'ws' | 'websocket'

  readonly server?: Endpoint

  /** Not started, not listed. */
  readonly disabled?: boolean
  /** Put in front of the names of tools and prompts: a text, or `false` for none. By default `name__`. */
  readonly prefix?: string | false
  readonly tools?: ToolRules
  readonly balance?: BalanceName
  readonly hash?: HashBy
  /** How long a call may take. */
  readonly timeoutMs?: number
  /** How long opening a connection may take, starting the program included. */
  readonly openMs?: number
  readonly breaker?: BreakerOptions | false
  readonly limits?: UpstreamLimits
  readonly restart?: RestartOptions | false
  readonly retry?: RetryOptions
  /** Whether to believe the server which of its tools change nothing, or nothing twice; not unless said. */
  readonly trustAnnotations?: boolean
  readonly health?: HealthOptions
  /**
   * Who shares a connection to a server of the session revisions: callers that can be asked the same
   * things (`'alike'`), everybody (`'one'`), or nobody (`'each'`). Everybody shares a program unless said
   * otherwise, and callers that are alike share the connections to an address.
   */
  readonly connections?: 'alike' | 'one' | 'each'
  /** Wrapped around every call to this server. */
  readonly use?: readonly Middleware[]
}

/** What a router is made of. */
export interface RouterOptions {
  /** The servers behind it, by name. A `Server` stands for `{ server }`. */
  readonly servers?: Readonly<Record<string, UpstreamOptions | Endpoint>>
  /** What the router calls itself. */
  readonly name?: string
  readonly version?: string
  readonly title?: string
  readonly icons?: readonly Icon[]
  readonly instructions?: string
  /** Entries on one page of a list. */
  readonly pageSize?: number
  /** Secrets that seal what travels with callers, the newest first; shared by all that serve one address. */
  readonly keys?: readonly Uint8Array[]
  /** How the tasks that calls become are kept: where, how long, how many. */
  readonly tasks?: TaskOptions
  /** Limits of all calls together, and of each caller. */
  readonly limits?: CallLimits & { readonly perCaller?: CallLimits }
  /** Wrapped around every call to any server, outside of that server's own. */
  readonly out?: readonly Middleware[]
  /** How long a call of a stateless caller is held for the answer to a question. */
  readonly heldMs?: number
  /**
   * How long a question of a server that could be that of several callers waits until it is clear whose
   * it is; 0 refuses it at once.
   */
  readonly doubtMs?: number
  /** How tools were defined when they were first seen, as another router remembered it. */
  readonly pins?: Pins
  /** Told when tools were seen for the first time, changed or approved, so that this can be kept. */
  readonly onPinned?: (pins: Pins) => void
  readonly clock?: Clock
  /** Told what went wrong that no caller is told. By default on stderr. */
  readonly onError?: (error: unknown) => void
}

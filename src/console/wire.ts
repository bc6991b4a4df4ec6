// The types of what the console sends to its page. The page imports these types and nothing else of this folder.

import type { PlayFrame } from './wire-play.ts'

/** What a viewer may do: everything, or only look. */
export type ConsoleActions = 'all' | 'look'

/** One instance of a server. */
export interface InstanceRow {
  readonly key: string
  readonly label: string
  readonly state: string
  readonly reason?: string | undefined
  readonly retryInMs?: number | undefined
  readonly breaker: string
  readonly inFlight: number
  readonly latencyMs: number
  readonly errorRate: number
  readonly restarts: number
  readonly revision?: string | undefined
  readonly websocket?: boolean | undefined
  readonly pids: readonly number[]
}

/** One server, as the list of servers shows it. */
export interface ServerRow {
  readonly name: string
  readonly level: 'ok' | 'degraded' | 'down'
  readonly reason?: string | undefined
  readonly retryInMs?: number | undefined
  readonly action?: string | undefined
  readonly isQuarantined: boolean
  readonly tools: number
  readonly hidden: number
  readonly prompts: number
  readonly resources: number
  readonly restarts: number
  readonly instances: readonly InstanceRow[]
}

/** The outcome of a call. */
export type CallOutcome = 'ok' | 'tool-error' | 'input-required' | 'error' | 'cancelled'

/** One call, as a row of the traffic. */
export interface CallRow {
  /** The number of the call among those that the console has shown. */
  readonly seq: number
  /** When it started, in milliseconds since 1970. */
  readonly at: number
  /** How long it took; undefined while it is in flight. */
  readonly ms?: number | undefined
  readonly method: string
  readonly name?: string | undefined
  readonly server?: string | undefined
  readonly instance?: string | undefined
  readonly client?: string | undefined
  readonly version?: string | undefined
  readonly principal?: string | undefined
  readonly revision?: string | undefined
  readonly era?: 'session' | 'stateless' | undefined
  readonly outcome?: CallOutcome | undefined
  readonly kind?: string | undefined
  readonly code?: number | undefined
  readonly reason?: string | undefined
  readonly retries?: number | undefined
  /** The newest progress that the server reported. */
  readonly progress?: CallProgressRow | undefined
  /** Server requests during the call. */
  readonly questions?: number | undefined
  /** Whether the call took longer than others of its tool, or than `slowCallMs`. */
  readonly isSlow?: boolean | undefined
  /** Whether the console itself made the call. */
  readonly isOurs?: boolean | undefined
  readonly spans?: readonly SpanRow[] | undefined
}

/** The newest progress of a call. */
export interface CallProgressRow {
  readonly progress: number
  readonly total?: number | undefined
  /** What the server is doing, in short. */
  readonly message?: string | undefined
  /** Milliseconds from the start of the call to the report. */
  readonly atMs: number
  /** How many reports there were. */
  readonly reports: number
}

/** A part of a call. */
export interface SpanRow {
  readonly what: 'wait' | 'attempt' | 'question'
  /** Milliseconds from the start of the call. */
  readonly from: number
  readonly to?: number | undefined
  readonly label: string
  readonly instance?: string | undefined
  /** Why the part failed. */
  readonly failure?: string | undefined
}

/** A change of a server or of the configuration. */
export interface ChangeRow {
  readonly seq: number
  readonly at: number
  readonly level: 'ok' | 'info' | 'warn' | 'error'
  readonly server?: string | undefined
  readonly instance?: string | undefined
  readonly text: string
  readonly details?: string | undefined
}

/** A line of the log, or of the error output of a server. */
export interface LogRow {
  readonly seq: number
  /** When it was written; undefined for output that is older than the console knows. */
  readonly at?: number | undefined
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'stderr'
  readonly server?: string | undefined
  readonly instance?: string | undefined
  readonly text: string
}

/** The figures of one moment. The rates are per second. `null`: nothing was measured. */
export interface FigurePoint {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly ok: number
  readonly failed: number
  readonly toolErrors: number
  /** Calls that a limit refused. */
  readonly refused: number
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
  readonly inFlight: number
  readonly queued: number
  readonly sessions: number
  readonly memory: number
  /** The share of time in which the event loop was busy, from 0 to 1. */
  readonly busy: number
  readonly servers: Readonly<Record<string, ServerFigure>>
}

/** The figures of one server at one moment. */
export interface ServerFigure {
  readonly calls: number
  readonly failed: number
  readonly p99: number | null
}

/** A frame of the stream. */
export type ConsoleFrame =
  | HelloFrame
  | { readonly event: 'fleet'; readonly servers: readonly ServerRow[]; readonly isWhole: boolean }
  | {
      readonly event: 'calls'
      readonly rows: readonly CallRow[]
      /** Calls that are not in `rows`, by server and outcome. */
      readonly left: readonly LeftOut[]
      /** Calls that are in flight now. */
      readonly inFlight: number
    }
  | { readonly event: 'figures'; readonly points: readonly FigurePoint[] }
  | { readonly event: 'changes'; readonly rows: readonly ChangeRow[] }
  | { readonly event: 'log'; readonly rows: readonly LogRow[]; readonly left: number }
  | PlayFrame
  | RecordingFrame
  | { readonly event: 'gap'; readonly frames: number }

/** Says whether arguments and results are being recorded. */
export interface RecordingFrame {
  readonly event: 'recording'
  /** Milliseconds until the recording ends by itself; 0 while nothing is recorded. */
  readonly leftMs: number
}

/** The answer to `GET api/calls/:seq/recording`: each part is missing if it was too large. */
export interface RecordingAnswer {
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: string | undefined
  /** How many values were replaced because of the names that they have. */
  readonly redacted: number
  /** The sizes of the params and of the result, in bytes of JSON. */
  readonly bytes: readonly [params: number, result: number]
}

/** The first frame of a stream. */
export interface HelloFrame {
  readonly event: 'hello'
  readonly version: string
  /** Identifies this run of the process: another one means that the process was restarted. */
  readonly run: string
  readonly startedAt: number
  readonly actions: ConsoleActions
  /** Whether a viewer may record arguments and results. */
  readonly mayRecord: boolean
}

/** Calls that a frame leaves out. */
export interface LeftOut {
  readonly server: string
  readonly outcome: CallOutcome
  readonly count: number
}

/** The answer to `GET api/state`. */
export interface StateAnswer {
  readonly hello: HelloFrame
  readonly servers: readonly ServerRow[]
  readonly changes: readonly ChangeRow[]
  readonly failures: readonly CallRow[]
  readonly figures: readonly FigurePoint[]
  readonly pins: readonly PinRow[]
  readonly slowest: readonly ToolFigure[]
}

/** How long the calls of a tool take. */
export interface ToolFigure {
  readonly server: string
  readonly name: string
  readonly calls: number
  readonly failed: number
  readonly p50: number | null
  readonly p99: number | null
}

/** A tool whose definition differs from the pinned one. */
export interface PinRow {
  readonly server: string
  readonly tool: string
  readonly summary: string
  /** All differences, one line each. */
  readonly differences: readonly string[]
  readonly invisible: number
  readonly digest: string
  /** Whether callers cannot use the tool until the change is approved. */
  readonly isBlocked: boolean
}

/** The answer to `GET api/servers/:name`. */
export interface ServerAnswer {
  readonly server: ServerRow
  /** The error output of each instance. */
  readonly stderr: readonly { readonly instance: string; readonly text: string }[]
  readonly changes: readonly ChangeRow[]
  /** The entry of the configuration, without secrets, if it is known. */
  readonly entry?: unknown
}

/** A tool, prompt or resource, shown to callers or not. */
export interface ToolRow {
  readonly what: 'tool' | 'prompt' | 'resource' | 'skill'
  readonly server: string
  /** The name at the server. */
  readonly own: string
  /** The name that callers see; undefined if they do not see it. */
  readonly shown?: string | undefined
  /** Why it has another name, or why it is hidden. */
  readonly why?: string | undefined
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** The size of its definition, in bytes of JSON. */
  readonly bytes?: number | undefined
  readonly annotations?: Readonly<Record<string, unknown>> | undefined
  readonly isTrusted?: boolean | undefined
  readonly isChanged?: boolean | undefined
  readonly calls?: number | undefined
  readonly failed?: number | undefined
  readonly p50?: number | null | undefined
  readonly p99?: number | null | undefined
}

/** The answer to `GET api/tools`. */
export interface ToolsAnswer {
  readonly rows: readonly ToolRow[]
  readonly pins: readonly PinRow[]
}

/** The answer to `GET api/tools/:name`: the definition that callers see. */
export interface ToolDetails {
  readonly row: ToolRow
  readonly definition: unknown
}

/** How a host is connected. */
export interface HostSnippet {
  /** The name of the host on the command line, such as `cursor`. */
  readonly id: string
  /** The name of the host for people. */
  readonly title: string
  /** What to do with the text: the file to edit, or a command to run. */
  readonly how: string
  /** What to paste. */
  readonly text: string
}

/** The answer to `GET api/connect`. */
export interface ConnectAnswer {
  readonly addresses: readonly string[]
  readonly hosts: readonly HostSnippet[]
  /** The clients that have called, newest first. */
  readonly clients: readonly ClientRow[]
}

/** A client that has called. */
export interface ClientRow {
  readonly name: string
  readonly version: string
  readonly at: number
  readonly method: string
}

/** One observation of a check. */
export interface CheckFindingRow {
  /** How it is rated. */
  readonly status: 'ok' | 'warn' | 'fail' | 'not applicable'
  /** What was observed. */
  readonly message: string
  /** What to change. */
  readonly advice?: string | undefined
}

/** One step of a check. */
export interface CheckStepRow {
  /** The name of the step, such as `lists`. */
  readonly step: string
  /** What the step finds out. */
  readonly question: string
  /** The most severe status of its findings. */
  readonly status: CheckFindingRow['status']
  /** What was observed. */
  readonly findings: readonly CheckFindingRow[]
}

/** The last check of a target. */
export interface CheckReport {
  readonly target: string
  /** In milliseconds since 1970. */
  readonly startedAt: number
  /** How long it took; undefined while it runs. */
  readonly ms?: number | undefined
  readonly steps: readonly CheckStepRow[]
  /** Why the check did not complete. */
  readonly problem?: string | undefined
}

/** The answer to `GET api/checks`. */
export interface ChecksAnswer {
  /** Whether the console can check anything. */
  readonly isAvailable: boolean
  readonly targets: readonly string[]
  readonly reports: readonly CheckReport[]
}

/** A problem of a configuration file. */
export interface IssueRow {
  /** An error rejects the file, or its server. */
  readonly severity: 'error' | 'warning' | 'note'
  /** The line, starting at 1; 0 for the file as a whole. */
  readonly line: number
  /** The column, starting at 1; 0 for the file as a whole. */
  readonly column: number
  /** What is wrong and how to fix it. */
  readonly message: string
}

/** The answer to `GET api/config`. */
export interface ConfigAnswer {
  /** The name of the file; undefined without one. */
  readonly file?: string | undefined
  /** The effective configuration as JSON, without secrets. */
  readonly text: string
  /** The problems of the file, in its order. */
  readonly issues: readonly IssueRow[]
}

/** The answer to `POST api/config/check`. */
export interface ConfigCheckAnswer {
  /** The problems of the text, in its order. */
  readonly issues: readonly IssueRow[]
  /** What would change, one line each; empty if nothing would. */
  readonly changes: readonly string[]
}

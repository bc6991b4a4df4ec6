import type { Profile, ProfileName } from '../mcp/profile.ts'
import type { Revision } from '../mcp/revisions/revisions.ts'
import type { Implementation, Members } from '../mcp/types/base.ts'
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from '../mcp/types/elicitation.ts'
import type { LogMessageParams } from '../mcp/types/logging.ts'
import type { Root } from '../mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../mcp/types/sampling.ts'
import type { Clock } from '../util/time/clock.ts'

/** What a handler gets beside the question. */
export interface QuestionContext {
  /** Aborted when the server no longer waits for the answer. */
  readonly signal: AbortSignal
}

/** Has somebody fill in a form. What it leaves out is filled in from the defaults of the form. */
export type ElicitForm = (
  form: ElicitFormParams,
  context: QuestionContext,
) => ElicitResult | Promise<ElicitResult>

/**
 * Has somebody settle something on a web page. Never opens it unasked, and shows the whole address
 * first; `accept` means that the person agreed to go there, not that they are done.
 */
export type ElicitUrl = (
  page: ElicitUrlParams,
  context: QuestionContext,
) => ElicitResult | Promise<ElicitResult>

/** Lets a model speak. Throws to refuse. */
export type Sample = (
  request: SampleParams,
  context: QuestionContext,
) => SampleResult | Promise<SampleResult>

/** The places a server may work in, or what finds them when it asks. */
export type Roots = readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>)

/** How a lost connection is opened again: a child started anew, a socket connected once more. */
export interface RestartOptions {
  /** How often in a row before the client closes; 0 never. The count starts again after `steadyMs`. */
  readonly attempts?: number
  /** Longest wait before the second attempt, doubled for each further one. The first comes at once. */
  readonly baseMs?: number
  readonly maxMs?: number
  /** How long a connection must last to be counted as a success. */
  readonly steadyMs?: number
  /** Between 0 and 1: the part of the longest wait that is waited. */
  readonly random?: () => number
}

/** How the server of a session is asked for signs of life: pings, beside what is said anyway. */
export interface HeartbeatOptions {
  /** How often; 0 never, which is the default: where a connection ends by itself, that is noticed. */
  readonly everyMs?: number
  /** How long an answer may take before the connection counts as lost and is opened again. */
  readonly waitMs?: number
}

/** What was found out about a server. */
export interface Verdict {
  readonly era: 'session' | 'stateless'
  /** When, in milliseconds since 1970. */
  readonly at: number
}

/** Keeps verdicts. A Map is one; so is anything that outlives the process. */
export interface Verdicts {
  get(target: string): Verdict | undefined
  set(target: string, verdict: Verdict): unknown
  delete(target: string): unknown
}

/** Where the verdict on this server is kept, and under which name. */
export interface Remember {
  readonly target: string
  readonly verdicts: Verdicts
}

/** What a client may be told. Everything has a default. */
export interface ClientOptions extends Partial<Implementation> {
  /** Answers questions to the user: forms alone, or forms and pages. Without it none are asked. */
  readonly elicit?: ElicitForm | { readonly form?: ElicitForm; readonly url?: ElicitUrl }
  /** Lets servers use a model of this side. Without it they are told that they cannot. */
  readonly sample?: Sample
  /** What `sample` can do beside the plain. */
  readonly sampling?: { readonly tools?: boolean; readonly context?: boolean }
  readonly roots?: Roots
  /** How often a server may ask for a model, and how often for the user; no limit unless said. */
  readonly questionsPerMinute?: number
  /** How long a call waits for a sign of life, unless the call says otherwise; 0 waits for ever. */
  readonly timeoutMs?: number
  /** How long a call may take altogether, however much progress it makes. */
  readonly maxTotalMs?: number
  /** `'auto'` finds out what the server speaks; the others insist. */
  readonly era?: 'auto' | 'session' | 'stateless'
  /** How long to wait for the answer that tells a stateless server from one with sessions. */
  readonly probeMs?: number
  /** The only revisions to speak, by their dates. */
  readonly revisions?: readonly (string | Revision)[]
  /** Whether to refuse, before sending, what the server has not declared. */
  readonly strict?: boolean
  readonly profile?: ProfileName | Profile
  /** Whether calls may become tasks, where the server decides that alone; true unless said. */
  readonly tasks?: boolean
  /** Settings of further extensions that this client supports, by their prefixed names. */
  readonly extensions?: Readonly<Record<string, Members>>
  readonly experimental?: Readonly<Record<string, Members>>
  /** Told every notification, by its canonical name, after the client itself has looked at it. */
  readonly onNotification?: (method: string, params: Members | undefined) => void
  readonly onLog?: (message: LogMessageParams) => void
  /** Told what went wrong beside calls: handlers that threw, odd messages. By default on stderr. */
  readonly onError?: (error: unknown) => void
  /** How a lost connection is opened again; `false` closes the client instead. */
  readonly restart?: RestartOptions | false
  readonly heartbeat?: HeartbeatOptions
  readonly remember?: Remember
  /** Gives up opening. Once the client is open it does nothing. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

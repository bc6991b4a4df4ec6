import type { Principal } from '../../jsonrpc/channel.ts'
import type { Calls, Exchange } from '../../jsonrpc/handler.ts'
import type { Caller } from '../../mcp/caller.ts'
import { readToolAnswer, type ToolAnswer } from '../../mcp/content/tool-answer.ts'
import { newest, type Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities, Members } from '../../mcp/types/base.ts'
import type { ElicitParams, ElicitResult } from '../../mcp/types/elicitation.ts'
import type { LogMessageParams } from '../../mcp/types/logging.ts'
import type { Root } from '../../mcp/types/roots.ts'
import type { SampleParams, SampleResult } from '../../mcp/types/sampling.ts'

/** The client that a local call of a tool pretends to be. */
export interface LocalCallOptions<Env = unknown> {
  /** The authenticated caller. */
  readonly principal?: Principal
  /** The HTTP headers of the request, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the handler gets as `ctx.env`, instead of what the option `context` would return. */
  readonly env?: Env
  /** Answers elicitations. Without it the client does not support them. */
  readonly elicit?: (params: ElicitParams) => ElicitResult | Promise<ElicitResult>
  /** Answers sampling requests. Without it the client does not support them. */
  readonly sample?: (params: SampleParams) => SampleResult | Promise<SampleResult>
  /** The roots of the client. Without them the client does not support roots. */
  readonly roots?: readonly Root[]
  /** Receives the log messages of the handler. */
  readonly onLog?: (message: LogMessageParams) => void
  /** Receives the progress of the handler. */
  readonly onProgress?: (progress: number, total?: number, message?: string) => void
  /** Cancels the call. */
  readonly signal?: AbortSignal
}

/** A tool call without a client and without a connection. */
export interface LocalCall {
  readonly params: Members
  readonly caller: Caller
  readonly exchange: Exchange
}

/** The newest revision in which a handler awaits the answers of the client. */
// The check: the table of revisions has sessions.
const revision = newest('session') as Revision

/** Makes the request of a local call. */
export function localCall(name: string, args: Members, options: LocalCallOptions): LocalCall {
  const { principal, headers, env, elicit, sample, roots, onLog, onProgress } = options
  const capabilities: ClientCapabilities = {
    ...(elicit && { elicitation: { form: {}, url: {} } }),
    ...(sample && { sampling: { tools: {}, context: {} } }),
    ...(roots && { roots: {} }),
  }
  const back: Calls = {
    call: async (method, params) => {
      // The check: the server sends only requests that the capabilities allow, with their params.
      if (method === 'elicitation/create') return elicit?.(params as ElicitParams)
      if (method === 'sampling/createMessage') return sample?.(params as SampleParams)
      return { roots: roots ?? [] }
    },
    notify: () => {},
  }
  const notify = (method: string, params: object = {}): void => {
    // The check: the server sends these notifications with their params.
    if (method === 'notifications/message') onLog?.(params as LogMessageParams)
    if (method !== 'notifications/progress') return
    const { progress, total, message } = params as {
      readonly progress: number
      readonly total?: number
      readonly message?: string
    }
    onProgress?.(progress, total, message)
  }
  const { signal = new AbortController().signal } = options
  const _meta = onProgress && { progressToken: 0 }
  return {
    params: { name, arguments: args, ...(_meta && { _meta }) },
    caller: { revision, capabilities, principal, logLevel: 'debug' },
    exchange: { signal, envelope: { principal, headers, env }, notify, back },
  }
}

/** Reads the result of a local call. Throws a TypeError for a call that became a task. */
export function localAnswer(name: string, result: unknown): ToolAnswer {
  const answer = readToolAnswer(result)
  if (typeof answer !== 'string') return answer
  throw new TypeError(`tool "${name}": ${answer}`)
}

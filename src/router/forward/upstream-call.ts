import type { Caller } from '../../mcp/caller.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { LogLevel } from '../../mcp/types/logging.ts'
import type { ToolAnnotations } from '../../mcp/types/tools.ts'
import type { LiveCall } from '../../observe/call.ts'
import type { Session } from '../../server/core/session.ts'
import type { ServerRequest } from '../../server/request.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Route } from '../dispatch/route.ts'
import { safetyOf } from '../policy/retry.ts'
import type { Instance } from '../upstream/instance.ts'
import type { Call } from './call.ts'
import type { Abort, Errand } from './errand.ts'
import { mayStayWritten, passedParams, type Senders, timeoutFor } from './hop.ts'

/** One request of a caller, and how its server is to be told of it. */
export interface Passing {
  readonly request: ServerRequest
  readonly route: Route
  /** Members of the params that are another thing to the server, such as the name of a tool. */
  readonly own: Members
  /** What is believed of the tool that is called. */
  readonly annotations?: ToolAnnotations
  /** Whether the server is asked to make a task of it. */
  readonly asTask?: boolean
  /** The call as those who listen hear of it. */
  readonly live?: LiveCall
}

/** A request of a caller as it goes on to its server. A class, because one is made for every call. */
export class PassedCall implements Call {
  method: string
  params: object
  readonly caller: Caller
  readonly session: Session | undefined
  readonly errand: Errand
  readonly abort: Abort
  readonly timeoutMs: number
  readonly safety: Call['safety']
  readonly pinned: Instance | undefined
  readonly tool: string | undefined
  readonly logLevel: LogLevel | undefined
  readonly live: LiveCall | undefined
  hashKey: string | undefined
  waitedMs: number | undefined
  takesWritten: boolean
  /** Whether the server may make a task of it. */
  takesTask: boolean
  readonly #request: ServerRequest
  readonly #senders: Senders

  constructor(
    { request, route, own, annotations, asTask, live }: Passing,
    senders: Senders,
    errand: Errand,
    at?: string,
    retry?: Members,
    abort?: Abort,
  ) {
    const { method, params, caller, session } = request
    const isSession = caller.revision.era === 'session'
    this.method = method
    this.params = passedParams(params, own, retry, asTask)
    this.caller = caller
    this.session = isSession ? session : undefined
    this.errand = errand
    this.abort = abort ?? request.exchange
    this.timeoutMs = timeoutFor(request, route.timeoutMs ?? limits.upstreamCallMs.default)
    this.safety = safetyOf(method, annotations)
    this.pinned = at === undefined ? undefined : route.instance(at)
    this.tool = typeof own.name === 'string' && method === 'tools/call' ? own.name : undefined
    this.logLevel = isSession ? session?.logLevel : caller.logLevel
    this.live = live
    this.takesWritten = mayStayWritten(request)
    this.takesTask = request.task !== undefined
    this.#request = request
    this.#senders = senders
  }

  get headers(): Readonly<Record<string, string>> | undefined {
    return this.#request.exchange.envelope.headers
  }

  sender(revision: Revision): object {
    return this.#senders.for(this.#request, revision, this.takesTask)
  }
}

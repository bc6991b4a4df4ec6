import type { Progress } from '../../client/requests/progress.ts'
import { readProgressToken } from '../../mcp/meta.ts'
import type { ClientCapabilities, Members } from '../../mcp/types/base.ts'
import { isLogLevel } from '../../mcp/types/logging.ts'
import { wantsLog } from '../../server/features/logging.ts'
import type { ServerRequest } from '../../server/request.ts'
import type { Errand } from './errand.ts'

/** Whether a caller with these capabilities can be asked anything. */
export function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined
}

/** A request of a caller as the connection to its server sees it. A class, because each call has one. */
export class RequestErrand implements Errand {
  readonly owner: unknown
  readonly ask: Errand['ask']
  readonly onProgress: Errand['onProgress']
  place: Errand['place']
  readonly #request: ServerRequest

  /** `ask` puts questions to the caller, where it can be asked. */
  constructor(request: ServerRequest, ask: Errand['ask']) {
    const { session, caller } = request
    this.#request = request
    this.owner = caller.revision.era === 'session' && session !== undefined ? session : request
    this.ask = ask
    this.onProgress = progressTo(request)
    this.place = undefined
  }

  onLog(params: Members): void {
    logTo(this.#request, params)
  }
}

/** Tells a caller how far its request has come; undefined where it does not want to know. */
export function progressTo({ params, exchange, caller }: ServerRequest) {
  const progressToken = readProgressToken(params)
  if (progressToken === undefined) return undefined
  return ({ progress, total, message }: Progress): void => {
    if (exchange.settled === true) return
    const words = caller.revision.features.progressMessages ? message : undefined
    tell(
      exchange.notify('notifications/progress', { progressToken, progress, total, message: words }),
    )
  }
}

/** Gives a caller a log message of its request, if it wants messages of the kind. */
export function logTo({ exchange, caller, session }: ServerRequest, params: Members): void {
  const { level, logger, data } = params
  if (!isLogLevel(level) || !wantsLog(caller, session, level)) return
  if (caller.revision.era === 'stateless' && exchange.settled === true) return
  tell(exchange.notify('notifications/message', { level, logger, data: data ?? null }))
}

/** What cannot be told any more is of no interest. */
function tell(told: void | Promise<void>): void {
  if (told !== undefined) told.then(undefined, () => {})
}

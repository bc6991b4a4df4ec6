import { isReserved } from '../../jsonrpc/message.ts'
import { metaKeyProblem } from '../../mcp/meta.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import { promised } from '../../util/promised.ts'
import { isRecord } from '../../util/record.ts'
import { Context } from '../context.ts'
import { Asking } from '../input/input-run.ts'
import { type Answer, type ServerRequest, whenReady } from '../request.ts'

/**
 * Answers a method of one's own: gets the params and a context, gives the result, an object or nothing.
 * A notification of that name comes the same way, and what it gives is dropped.
 */
export type MethodHandler = (params: Members, context: Context) => unknown

/** Methods that the protocol does not have. */
export class OwnMethods {
  readonly #handlers = new Map<string, MethodHandler>()

  /** Throws a TypeError for a name of the protocol's or of JSON-RPC's, and for one that is taken. */
  add(name: string, handler: MethodHandler): void {
    if (typeof name !== 'string' || name === '') throw new TypeError('a method needs a name')
    if (typeof handler !== 'function') throw new TypeError(`method "${name}": no function`)
    if (isReserved(name)) throw new TypeError(`the method name "${name}" is reserved by JSON-RPC`)
    if (methodRow(name) !== undefined) {
      throw new TypeError(`the protocol has a method "${name}" already`)
    }
    if (this.#handlers.has(name)) throw new TypeError(`there is already a method "${name}"`)
    this.#handlers.set(name, handler)
  }

  has(name: string): boolean {
    return this.#handlers.has(name)
  }

  answer(request: ServerRequest): Answer {
    const handler = this.#handlers.get(request.method)
    // Only three methods of the protocol may be answered with questions.
    const call = request.caller.revision.era === 'stateless' ? refuseToAsk : undefined
    const context = new Context(request, new Asking(request, undefined, call))
    return whenReady(promised(handler?.(request.params, context)), result => {
      if (result === undefined) return {}
      if (isRecord(result)) return result
      throw new TypeError(`method "${request.method}" gives no object`)
    })
  }
}

async function refuseToAsk(): Promise<never> {
  throw new TypeError('in this revision only tools, prompts and resources may ask the client')
}

/** Throws a TypeError for a name that no extension may have: it must be `prefix/name`. */
export function checkExtensions(extensions: Readonly<Record<string, Members>> | undefined): void {
  for (const [name, settings] of Object.entries(extensions ?? {})) {
    const problem = name.includes('/') ? metaKeyProblem(name) : 'it has no prefix'
    if (problem !== undefined) throw new TypeError(`the extension "${name}": ${problem}`)
    if (!isRecord(settings)) throw new TypeError(`the extension "${name}": settings are an object`)
  }
}

import { isReserved } from '../../jsonrpc/message.ts'
import { metaKeyProblem } from '../../mcp/meta.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import { isRecord } from '../../util/objects.ts'
import { fromThenable } from '../../util/promises.ts'
import { Context } from '../context.ts'
import { InputRun } from '../input/input-run.ts'
import { type HandlerResult, type IncomingRequest, whenReady } from '../request.ts'

/**
 * The handler of a method that the protocol does not have. Returns the result, an object or nothing.
 * Notifications of that name call it too; their result is dropped.
 */
export type MethodHandler<Env = unknown> = (params: Members, context: Context<Env>) => unknown

/** Methods that the protocol does not have. */
export class CustomMethods {
  readonly #handlers = new Map<string, MethodHandler>()

  /** Throws a TypeError for a name of the protocol or of JSON-RPC, and for one that is taken. */
  add(name: string, handler: MethodHandler): void {
    if (typeof name !== 'string' || name === '') throw new TypeError('a method must have a name')
    if (typeof handler !== 'function')
      throw new TypeError(`method "${name}": the handler must be a function`)
    if (isReserved(name)) throw new TypeError(`the method name "${name}" is reserved by JSON-RPC`)
    if (methodRow(name) !== undefined) {
      throw new TypeError(`the protocol already has a method "${name}"`)
    }
    if (this.#handlers.has(name)) throw new TypeError(`duplicate method "${name}"`)
    this.#handlers.set(name, handler)
  }

  has(name: string): boolean {
    return this.#handlers.has(name)
  }

  answer(request: IncomingRequest): HandlerResult {
    const handler = this.#handlers.get(request.method)
    // Only three methods of the protocol may be answered with input requests.
    const { serverRequests } = request.caller.revision.features
    const call = serverRequests === 'retry' ? rejectInput : undefined
    const context = new Context(request, new InputRun(request, undefined, call))
    return whenReady(fromThenable(handler?.(request.params, context)), result => {
      if (result === undefined) return {}
      if (isRecord(result)) return result
      throw new TypeError(`method "${request.method}" must return an object or undefined`)
    })
  }
}

async function rejectInput(): Promise<never> {
  throw new TypeError(
    'in this revision only tools, prompts and resources may send requests to the client',
  )
}

/** Throws a TypeError for an invalid name of an extension, which must be `prefix/name`. */
export function checkExtensions(extensions: Readonly<Record<string, Members>> | undefined): void {
  for (const [name, settings] of Object.entries(extensions ?? {})) {
    const problem = name.includes('/') ? metaKeyProblem(name) : 'it has no prefix'
    if (problem !== undefined) throw new TypeError(`extension "${name}": ${problem}`)
    if (!isRecord(settings))
      throw new TypeError(`extension "${name}": the settings must be an object`)
  }
}

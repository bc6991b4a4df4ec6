import { invalidParams } from '../jsonrpc/error.ts'
import { errors } from '../mcp/errors.ts'
import { limits } from '../util/limits.ts'
import type { Completer, CompletionContext } from './completer.ts'
import type { Prompts } from './prompts.ts'
import {
  type Answer,
  isRecord,
  type Params,
  type ServerRequest,
  stringParam,
  whenReady,
} from './request.ts'
import type { Resources } from './resources.ts'

/** Answers `completion/complete`. */
export function complete(request: ServerRequest, prompts: Prompts, resources: Resources): Answer {
  const { params, exchange } = request
  const argument = params.argument
  if (!isRecord(argument)) throw invalidParams('argument must be an object')
  const name = stringParam(argument, 'name')
  const value = stringParam(argument, 'value')
  const completer = completerOf(params.ref, name, prompts, resources)
  if (completer === undefined) return { completion: { values: [], total: 0, hasMore: false } }
  const known =
    isRecord(params.context) && isRecord(params.context.arguments) ? params.context.arguments : {}
  const context: CompletionContext = {
    // The check: values of arguments are strings; what is not is the completer's to ignore.
    arguments: known as Readonly<Record<string, string>>,
    get signal() {
      return exchange.signal
    },
  }
  return whenReady(completer(value, context), bounded) as Answer
}

function bounded(values: readonly string[]): Params {
  const most = limits.completionValues.default
  return {
    completion: {
      values: values.slice(0, most),
      total: values.length,
      hasMore: values.length > most,
    },
  }
}

function completerOf(
  ref: unknown,
  argument: string,
  prompts: Prompts,
  resources: Resources,
): Completer | undefined {
  if (!isRecord(ref)) throw errors.invalidCompletionReference({ reference: String(ref) })
  if (ref.type === 'ref/prompt' && typeof ref.name === 'string') {
    const found = prompts.completer(ref.name, argument)
    if (found === 'unknown') throw errors.promptNotFound({ prompt: ref.name })
    return found
  }
  if (ref.type === 'ref/resource' && typeof ref.uri === 'string') {
    const found = resources.completer(ref.uri, argument)
    if (found === 'unknown') throw errors.resourceNotFound({ uri: ref.uri })
    return found
  }
  throw errors.invalidCompletionReference({ reference: String(ref.type) })
}

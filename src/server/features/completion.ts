import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { limits } from '../../util/limits/limits.ts'
import { promised } from '../../util/promised.ts'
import { isRecord } from '../../util/record.ts'
import { type Answer, type Params, type ServerRequest, stringParam, whenReady } from '../request.ts'
import type { Completer, CompletionContext } from './completer.ts'
import type { Prompts } from './prompts.ts'
import type { Resources } from './resources.ts'

/** Answers `completion/complete`. */
export function complete(request: ServerRequest, prompts: Prompts, resources: Resources): Answer {
  const { params, exchange } = request
  const argument = params.argument
  if (!isRecord(argument)) throw wrong('argument must be an object')
  const name = stringParam(argument, 'name')
  const value = stringParam(argument, 'value')
  const completer = completerOf(params.ref, name, prompts, resources)
  if (completer === undefined) return { completion: { values: [], total: 0, hasMore: false } }
  const { completionContext } = request.caller.revision.features
  const context: CompletionContext = {
    arguments: completionContext ? knownArguments(params.context) : {},
    get signal() {
      return exchange.signal
    },
  }
  // The check: what a completer gives is a list of texts, by its type.
  const values = promised(completer(value, context)) as ReturnType<Completer>
  return whenReady(values, bounded)
}

/** The arguments that have their values, in a context that need not be there. */
function knownArguments(context: unknown): Readonly<Record<string, string>> {
  const known = objectIn(context, 'context').arguments
  const values = objectIn(known, 'context.arguments')
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'string') throw wrong(`context.arguments.${name} must be a string`)
  }
  // The check: each of them is a string.
  return values as Readonly<Record<string, string>>
}

function objectIn(value: unknown, what: string): Params {
  if (value === undefined) return {}
  if (!isRecord(value)) throw wrong(`${what} must be an object`)
  return value
}

function wrong(details: string): RpcError {
  return invalidParams(details, { data: { details } })
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
    return argumentOf(found, argument)
  }
  if (ref.type === 'ref/resource' && typeof ref.uri === 'string') {
    const found = resources.completer(ref.uri, argument)
    // Not as a resource that cannot be read: what is wrong is the reference.
    if (found === 'unknown') throw errors.invalidCompletionReference({ reference: ref.uri })
    return argumentOf(found, argument)
  }
  throw errors.invalidCompletionReference({ reference: String(ref.type) })
}

function argumentOf(
  found: Completer | undefined | 'no argument',
  argument: string,
): Completer | undefined {
  if (found !== 'no argument') return found
  throw errors.invalidCompletionArgument({ argument, details: `there is no "${argument}" in it` })
}

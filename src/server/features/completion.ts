import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { fromThenable } from '../../util/promises.ts'
import {
  type HandlerResult,
  type IncomingRequest,
  type NamedParams,
  stringParam,
  whenReady,
} from '../request.ts'

/** The second argument of a completer. */
export interface CompletionContext {
  /** The values of arguments that the client has already filled in. */
  readonly arguments: Readonly<Record<string, string>>
  /** Aborted when the client has cancelled the request or the connection has closed. */
  readonly signal: AbortSignal
}

/** Suggests values for an argument. `value` is what the user has typed so far. */
export type Completer = (
  value: string,
  context: CompletionContext,
) => readonly string[] | Promise<readonly string[]>

/** Completers by the name of the argument or variable that they complete. */
export type Completers = Readonly<Record<string, Completer>>

/** The result of looking up a completer; undefined where the argument exists but has no completer. */
export type FoundCompleter = Completer | undefined | 'no reference' | 'no argument'

/** Finds the completer of an argument. `names` are the arguments that exist. */
export function findCompleter(
  completers: Completers | undefined,
  names: readonly string[],
  argument: string,
): FoundCompleter {
  if (!names.includes(argument)) return 'no argument'
  const isDefined = completers !== undefined && Object.hasOwn(completers, argument)
  return isDefined ? completers[argument] : undefined
}

/** The prompts or the resources of a server, as far as completion needs them. */
interface CompleterSource {
  completer(reference: string, argument: string): FoundCompleter
}

/** Answers `completion/complete`. */
export function complete(
  request: IncomingRequest,
  prompts: CompleterSource,
  resources: CompleterSource,
): HandlerResult {
  const { params, exchange } = request
  const argument = params.argument
  if (!isRecord(argument)) throw invalid('argument must be an object')
  const name = stringParam(argument, 'name')
  const value = stringParam(argument, 'value')
  const completer = completerOf(params.ref, name, prompts, resources)
  if (completer === undefined) return { completion: { values: [], total: 0, hasMore: false } }
  const { completionContext } = request.caller.revision.features
  const context: CompletionContext = {
    arguments: completionContext ? filledArguments(params.context) : {},
    get signal() {
      return exchange.signal
    },
  }
  // The check: a completer returns a list of strings, by its type.
  const values = fromThenable(completer(value, context)) as ReturnType<Completer>
  return whenReady(values, limited)
}

/** The arguments in `context.arguments`; an empty object where the optional context is absent. */
function filledArguments(context: unknown): Readonly<Record<string, string>> {
  const given = objectIn(context, 'context').arguments
  const values = objectIn(given, 'context.arguments')
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'string') throw invalid(`context.arguments.${name} must be a string`)
  }
  // The check: each of them is a string.
  return values as Readonly<Record<string, string>>
}

function objectIn(value: unknown, name: string): NamedParams {
  if (value === undefined) return {}
  if (!isRecord(value)) throw invalid(`${name} must be an object`)
  return value
}

function invalid(details: string): RpcError {
  return invalidParams(details, { data: { details } })
}

function limited(values: readonly string[]): NamedParams {
  const max = limits.completionValues.default
  return {
    completion: {
      values: values.slice(0, max),
      total: values.length,
      hasMore: values.length > max,
    },
  }
}

function completerOf(
  ref: unknown,
  argument: string,
  prompts: CompleterSource,
  resources: CompleterSource,
): Completer | undefined {
  if (!isRecord(ref)) throw errors.invalidCompletionReference({ reference: String(ref) })
  if (ref.type === 'ref/prompt' && typeof ref.name === 'string') {
    const found = prompts.completer(ref.name, argument)
    if (found === 'no reference') throw errors.promptNotFound({ prompt: ref.name })
    return existing(found, argument)
  }
  if (ref.type === 'ref/resource' && typeof ref.uri === 'string') {
    const found = resources.completer(ref.uri, argument)
    // Not `resource not found`, which is for a resource that cannot be read: the reference is wrong.
    if (found === 'no reference') throw errors.invalidCompletionReference({ reference: ref.uri })
    return existing(found, argument)
  }
  throw errors.invalidCompletionReference({ reference: String(ref.type) })
}

function existing(
  found: Exclude<FoundCompleter, 'no reference'>,
  argument: string,
): Completer | undefined {
  if (found !== 'no argument') return found
  throw errors.invalidCompletionArgument({ argument, details: `there is no "${argument}" in it` })
}

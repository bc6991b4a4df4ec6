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
import { type RequestContext, RequestView } from '../request-context.ts'
import { type FeatureEntry, type Rename, runEntry } from './registry.ts'

/** The second argument of a completer. */
export interface CompletionContext<Env = unknown> extends RequestContext<Env> {
  /** The values of arguments that the client has already filled in. */
  readonly arguments: Readonly<Record<string, string>>
}

/** Suggests values for an argument. `value` is what the user has typed so far. */
export type Completer<Env = unknown> = (
  value: string,
  context: CompletionContext<Env>,
) => readonly string[] | Promise<readonly string[]>

/** Completers by the name of the argument or variable that they complete. */
export type Completers<Env = unknown, Name extends string = string> = {
  readonly [N in Name]?: Completer<Env>
}

/** A completer, and the entry that it belongs to. */
interface FoundCompleter {
  readonly entry: FeatureEntry<unknown>
  readonly completer: Completer
}

/** The result of looking up a completer; undefined where the argument exists but has no completer. */
export type CompleterSearch = FoundCompleter | undefined | 'no reference' | 'no argument'

/** Finds the completer of an argument of an entry. `names` are the arguments that exist. */
export function findCompleter(
  entry: FeatureEntry<unknown>,
  completers: Completers | undefined,
  names: readonly string[],
  argument: string,
): CompleterSearch {
  if (!names.includes(argument)) return 'no argument'
  const isDefined = completers !== undefined && Object.hasOwn(completers, argument)
  const completer = isDefined ? completers[argument] : undefined
  return completer && { entry, completer }
}

/** The prompts or the resources of a server, as far as completion needs them. */
interface CompleterSource {
  completer(
    reference: string,
    argument: string,
    request: IncomingRequest,
  ): CompleterSearch | Promise<CompleterSearch>
}

/** Answers `completion/complete`. */
export function complete(
  request: IncomingRequest,
  prompts: CompleterSource,
  resources: CompleterSource,
): HandlerResult {
  const { params } = request
  const argument = params.argument
  if (!isRecord(argument)) throw invalid('argument must be an object')
  const name = stringParam(argument, 'name')
  const value = stringParam(argument, 'value')
  const { completionContext } = request.caller.revision.features
  const filled = completionContext ? filledArguments(params.context) : {}
  return whenReady(completerOf(request, name, prompts, resources), found => {
    if (found === undefined) return { completion: { values: [], total: 0, hasMore: false } }
    return runEntry(found.entry, request, byReference, entered => {
      const context = Object.assign(new RequestView(entered), { arguments: filled })
      // The check: a completer returns a list of strings, by its type.
      const values = fromThenable(found.completer(value, context)) as ReturnType<Completer>
      return whenReady(values, limited)
    })
  })
}

/** Renames the prompt that a completion refers to. */
const byReference: Rename = (params, name) => ({
  ...params,
  ref: isRecord(params.ref) ? { ...params.ref, name } : params.ref,
})

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
  request: IncomingRequest,
  argument: string,
  prompts: CompleterSource,
  resources: CompleterSource,
): FoundCompleter | undefined | Promise<FoundCompleter | undefined> {
  const { ref } = request.params
  if (!isRecord(ref)) throw errors.invalidCompletionReference({ reference: String(ref) })
  const { type, name, uri } = ref
  if (type === 'ref/prompt' && typeof name === 'string') {
    return whenReady(prompts.completer(name, argument, request), found => {
      if (found === 'no reference') throw errors.promptNotFound({ prompt: name })
      return existing(found, argument)
    })
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    return whenReady(resources.completer(uri, argument, request), found => {
      // Not `resource not found`, which is for a resource that cannot be read: the reference is wrong.
      if (found === 'no reference') throw errors.invalidCompletionReference({ reference: uri })
      return existing(found, argument)
    })
  }
  throw errors.invalidCompletionReference({ reference: String(type) })
}

function existing(
  found: Exclude<CompleterSearch, 'no reference'>,
  argument: string,
): FoundCompleter | undefined {
  if (found !== 'no argument') return found
  throw errors.invalidCompletionArgument({ argument, details: `there is no "${argument}" in it` })
}

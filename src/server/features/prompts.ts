import { invalidParams } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { promptResult } from '../../mcp/content/content.ts'
import { contentFault, listFault } from '../../mcp/content/content-check.ts'
import type { LocalizedText } from '../../mcp/content/localized.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { checkName } from '../../mcp/names.ts'
import { contentFor, promptFor } from '../../mcp/revisions/shape.ts'
import { type Issue, issueText } from '../../mcp/schema/issues.ts'
import { type Compiled, compileSchema } from '../../mcp/schema/schema.ts'
import type { InferInput, Schema } from '../../mcp/schema/standard-schema.ts'
import type { Icon, Members } from '../../mcp/types/base.ts'
import type { GetPromptResult, Prompt, PromptArgument } from '../../mcp/types/prompts.ts'
import { isRecord, ownMember } from '../../util/objects.ts'
import type { OptionTableOf } from '../../util/options.ts'
import { fromThenable } from '../../util/promises.ts'
import { Context } from '../context.ts'
import type { Scope } from '../core/request-scope.ts'
import { isInputRequired, runWithInput } from '../input/input-required.ts'
import {
  type HandlerResult,
  type IncomingRequest,
  objectParam,
  stringParam,
  whenReady,
} from '../request.ts'
import { checkCompleters, checkRegistration } from '../validate.ts'
import type { AccessRule } from './access.ts'
import { type CompleterSearch, type Completers, findCompleter } from './completion.ts'
import { commonMembers, type FaultyDefinition } from './definition-members.ts'
import { checkPublicList, type ListHost, listPage } from './lists.ts'
import { byName, FeatureSet, type Registration, runEntry } from './registry.ts'
import type { ArgumentsFault } from './schema-faults.ts'
import { defaultTexts, translator } from './translations.ts'

/**
 * The definition of a prompt, besides its name and its handler. `Env` is the type of what the option
 * `context` of the server returns; `A` is the schema of its arguments.
 */
export interface PromptDefinition<Env = unknown, A extends Schema = Schema> {
  /** The display name, for people. */
  readonly title?: LocalizedText
  /** What the prompt is for. */
  readonly description?: LocalizedText
  /** The schema of its arguments: an object whose members are strings. */
  readonly args?: A
  /** Completers that suggest values, by the name of the argument. */
  readonly complete?: Completers<Env, ArgumentName<A>>
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** Metadata that clients get as `_meta`. */
  readonly meta?: Members
  /**
   * Decides which callers see the prompt: it is neither listed for the others nor can they get it, as if it
   * did not exist. Returns at once; what it throws hides the prompt. Without it every caller sees the prompt.
   */
  visible?(caller: Caller, env: Env): boolean
  /** What the principal of a caller needs: scopes, roles. Without it every caller may use the prompt. */
  readonly auth?: AccessRule
}

/**
 * The definition of a prompt with the schema `A`, which is `never` where there is none. For a schema that no
 * prompt can have, the compiler shows what is wrong with it.
 */
export type CheckedPrompt<A extends Schema, Env = unknown> =
  unknown extends ArgumentsFault<A>
    ? PromptDefinition<Env, A>
    : FaultyDefinition<'args', ArgumentsFault<A>>

/** The names of the arguments of a prompt; any, if the compiler does not know its schema. */
export type ArgumentName<A> = unknown extends InferInput<A> ? string : keyof InferInput<A> & string

/** The members of a prompt definition, for validation. */
const promptTable: OptionTableOf<PromptDefinition> = {
  ...commonMembers,
  args: 'any',
  complete: { '*': 'any' },
}

/** The handler of a prompt, after its types were checked where it was registered. */
export type PromptCode = (args: unknown, context: Context) => unknown

interface PromptEntry {
  readonly name: string
  readonly definition: PromptDefinition
  readonly code: PromptCode
  readonly args: Compiled<unknown>
  readonly prompt: Prompt
}

/** The prompts of a server. Answers `prompts/list` and `prompts/get`. */
export class Prompts {
  readonly #host: ListHost
  readonly #set: FeatureSet<PromptDefinition, PromptEntry>
  readonly #mounted = new Set<Prompts>()
  #hasCompleters = false

  constructor(host: ListHost, onChange: () => void) {
    this.#host = host
    this.#set = new FeatureSet('prompt', onChange, host.onError)
  }

  /** Whether callers may see different lists. */
  get isPersonal(): boolean {
    return this.#set.isPersonal
  }

  get isUsed(): boolean {
    return this.#set.isUsed
  }

  register(
    name: string,
    definition: PromptDefinition,
    code: PromptCode,
  ): Registration<PromptDefinition, PromptCode> {
    const problem = checkName(name, 'prompt')
    if (problem !== undefined) throw new TypeError(problem)
    const make = (made: PromptDefinition, current: PromptCode): PromptEntry => {
      checkRegistration(`prompt "${name}"`, made, current, promptTable)
      checkPublicList(`prompt "${name}"`, made, this.#host.publicLists.has('prompts/list'))
      const entry = entryOf(name, made, current)
      if (made.complete !== undefined) this.#hasCompleters = true
      return entry
    }
    return this.#set.add(name, name, definition, make, code)
  }

  /** Throws a TypeError if a prompt of another server would have a name that is taken. */
  checkMount(other: Prompts, prefix: string): void {
    this.#set.checkMount(other.#set, name => prefix + name)
  }

  /** Shows the prompts of a mounted server. Returns a function that removes them. */
  mount(other: Prompts, scope: Scope, prefix: string): () => void {
    const unmount = this.#set.mount(other.#set, {
      scope,
      keyOf: name => prefix + name,
      rename: (entry, name) => ({ ...entry, name, prompt: { ...entry.prompt, name } }),
    })
    this.#mounted.add(other)
    return () => {
      this.#mounted.delete(other)
      unmount()
    }
  }

  list(request: IncomingRequest): HandlerResult {
    const { revision } = request.caller
    return listPage(request, this.#host, this.#set.view(request), 'prompts', ({ items }) => {
      const translate = translator(request)
      return items.map(({ prompt, definition }) =>
        promptFor(revision, translate(prompt, definition)),
      )
    })
  }

  get(request: IncomingRequest): HandlerResult {
    const name = stringParam(request.params, 'name')
    return whenReady(this.#set.find(name, request), found => {
      if (found === undefined) throw errors.promptNotFound({ prompt: name })
      return runEntry(found, request, byName, inner => this.#get(found.value, inner))
    })
  }

  #get(entry: PromptEntry, request: IncomingRequest): HandlerResult {
    const { name } = entry
    const given = objectParam(request.params, 'arguments')
    for (const argument of entry.prompt.arguments ?? []) {
      if (argument.required && ownMember(given, argument.name) === undefined) {
        throw errors.promptArgumentMissing({ prompt: name, argument: argument.name })
      }
    }
    return whenReady(entry.args.check(given), outcome => {
      if (!outcome.ok) {
        const details = issueText(outcome.issues)
        throw invalidParams(`Invalid arguments for prompt "${name}": ${details}`, {
          kind: 'invalid_prompt_arguments',
          data: { prompt: name, details },
        })
      }
      return runWithInput(request, this.#host.rounds, run =>
        whenReady(fromThenable(entry.code(outcome.value, new Context(request, run))), value =>
          isInputRequired(value) ? value : shaped(request, entry, value),
        ),
      )
    }) as HandlerResult
  }

  /** Finds the completer of an argument of a prompt. */
  completer(
    name: string,
    argument: string,
    request: IncomingRequest,
  ): CompleterSearch | Promise<CompleterSearch> {
    return whenReady(this.#set.find(name, request), found => {
      if (found === undefined) return 'no reference'
      const { prompt, definition } = found.value
      const names = prompt.arguments?.map(one => one.name) ?? []
      return findCompleter(found, definition.complete, names, argument)
    })
  }

  /** Whether any prompt ever had completers: clients keep the capability that they were given. */
  get hasCompleters(): boolean {
    return this.#hasCompleters || [...this.#mounted].some(prompts => prompts.hasCompleters)
  }
}

function shaped({ caller }: IncomingRequest, entry: PromptEntry, value: unknown): GetPromptResult {
  const result = promptResult(value)
  const fault = listFault('messages', result.messages, message => {
    const found = contentFault(message.content)
    return found && `content.${found}`
  })
  if (fault !== undefined) throw new Error(`invalid result of prompt "${entry.name}": ${fault}`)
  return {
    description: entry.prompt.description,
    ...result,
    messages: result.messages.map(message => ({
      ...message,
      content: contentFor(caller.revision, message.content),
    })),
  }
}

function entryOf(name: string, definition: PromptDefinition, code: PromptCode): PromptEntry {
  const args = compileSchema(definition.args, { what: `prompt "${name}" arguments` })
  const { icons, meta } = definition
  const listed = definition.args === undefined ? undefined : argumentsOf(args.jsonSchema)
  const names = listed?.map(argument => argument.name) ?? []
  checkCompleters(`prompt "${name}"`, definition.complete, names)
  checkTakesStrings(name, args)
  const prompt: Prompt = {
    name,
    ...defaultTexts(`prompt "${name}"`, definition),
    arguments: listed,
    icons,
    _meta: meta,
  }
  return { name, definition, code, args, prompt }
}

/**
 * Throws a TypeError for an argument that accepts no string: clients send nothing else. A schema that
 * converts strings has another type, and accepts them all the same.
 */
function checkTakesStrings(name: string, args: Compiled<unknown>): void {
  const { properties } = args.jsonSchema
  for (const [argument, property] of Object.entries(isRecord(properties) ? properties : {})) {
    const type = isRecord(property) ? property.type : undefined
    if (typeof type !== 'string' || type === 'string') continue
    const isRefused = ['1', 'true', '{}', '1970-01-01'].every(text => {
      const outcome = args.check({ [argument]: text })
      return !(outcome instanceof Promise) && !outcome.ok && outcome.issues.some(isAt(argument))
    })
    if (!isRefused) continue
    throw new TypeError(
      `prompt "${name}": the argument "${argument}" has the type ${type}, but clients send strings; convert it in the handler`,
    )
  }
}

function isAt(argument: string): (issue: Issue) => boolean {
  return ({ path }) => path?.[0] === argument
}

/** The members of an object schema, as `prompts/list` shows them. */
function argumentsOf(schema: Readonly<Record<string, unknown>>): PromptArgument[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isRecord(schema.properties) ? schema.properties : {}
  return Object.entries(properties).map(([name, property]) => {
    const { title, description } = isRecord(property) ? property : {}
    return {
      name,
      title: typeof title === 'string' ? title : undefined,
      description: typeof description === 'string' ? description : undefined,
      required: required.includes(name),
    }
  })
}

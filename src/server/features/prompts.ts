import { invalidParams } from '../../jsonrpc/error.ts'
import { promptResult } from '../../mcp/content.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { checkName } from '../../mcp/names.ts'
import { contentFor, promptFor } from '../../mcp/revisions/shape.ts'
import { issueText } from '../../mcp/schema/issues.ts'
import { type Compiled, compileSchema } from '../../mcp/schema/schema.ts'
import type { Schema } from '../../mcp/schema/standard-schema.ts'
import type { Icon, Members } from '../../mcp/types/base.ts'
import type { GetPromptResult, Prompt, PromptArgument } from '../../mcp/types/prompts.ts'
import { promised } from '../../util/promised.ts'
import { isRecord } from '../../util/record.ts'
import { Context } from '../context.ts'
import { isInputRequired, runAsking } from '../input/input-required.ts'
import {
  type Answer,
  objectParam,
  type Params,
  type ServerRequest,
  stringParam,
  whenReady,
} from '../request.ts'
import type { Completer } from './completer.ts'
import { pageOf } from './page.ts'
import { type FeatureHost, FeatureSet, type Registration } from './registry.ts'

/** What a prompt is, beside its name and its code. */
export interface PromptDefinition {
  readonly title?: string
  readonly description?: string
  /** Its arguments, each of them text; an object schema. */
  readonly args?: Schema
  /** Suggests values for arguments, by their names. */
  readonly complete?: Readonly<Record<string, Completer>>
  readonly icons?: readonly Icon[]
  readonly meta?: Members
}

export type PromptCode = (args: unknown, context: Context) => unknown

interface PromptEntry {
  readonly name: string
  readonly definition: PromptDefinition
  readonly code: PromptCode
  readonly args: Compiled<unknown>
  readonly prompt: Prompt
}

/** The prompts of a server: registered, listed, filled in. */
export class Prompts {
  readonly #host: FeatureHost
  readonly #set: FeatureSet<PromptDefinition, PromptEntry>
  #hasCompleters = false

  constructor(host: FeatureHost, onChange: () => void) {
    this.#host = host
    this.#set = new FeatureSet('prompt', onChange)
  }

  get isUsed(): boolean {
    return this.#set.isUsed
  }

  register(
    name: string,
    definition: PromptDefinition,
    code: PromptCode,
  ): Registration<PromptDefinition> {
    const problem = checkName(name, 'prompt')
    if (problem !== undefined) throw new TypeError(problem)
    return this.#set.add(name, name, definition, made => {
      const entry = entryOf(name, made, code)
      if (made.complete !== undefined) this.#hasCompleters = true
      return entry
    })
  }

  list({ caller, params }: ServerRequest): Params {
    const { items, nextCursor } = pageOf(
      this.#set.list(),
      'prompts',
      params,
      this.#host.cursors,
      this.#host.pageSize,
      this.#set.places(),
    )
    return { prompts: items.map(entry => promptFor(caller.revision, entry.prompt)), nextCursor }
  }

  get(request: ServerRequest): Answer {
    const name = stringParam(request.params, 'name')
    const entry = this.#set.get(name)
    if (entry === undefined) throw errors.promptNotFound({ prompt: name })
    const given = objectParam(request.params, 'arguments')
    for (const argument of entry.prompt.arguments ?? []) {
      if (argument.required && given[argument.name] === undefined) {
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
      return runAsking(request, this.#host.rounds, asking =>
        whenReady(promised(entry.code(outcome.value, new Context(request, asking))), value =>
          isInputRequired(value) ? value : shaped(request, entry, value),
        ),
      )
    }) as Answer
  }

  /** Who suggests values for an argument, and whether there are such a prompt and such an argument. */
  completer(name: string, argument: string): Completer | undefined | 'unknown' | 'no argument' {
    const entry = this.#set.get(name)
    if (entry === undefined) return 'unknown'
    if (!entry.prompt.arguments?.some(one => one.name === argument)) return 'no argument'
    const { complete } = entry.definition
    return complete !== undefined && Object.hasOwn(complete, argument)
      ? complete[argument]
      : undefined
  }

  /** Whether any of them ever completed: what was declared must be answered. */
  get hasCompleters(): boolean {
    return this.#hasCompleters
  }
}

function shaped({ caller }: ServerRequest, entry: PromptEntry, value: unknown): GetPromptResult {
  const result = promptResult(value)
  return {
    description: entry.definition.description,
    ...result,
    messages: result.messages.map(message => ({
      ...message,
      content: contentFor(caller.revision, message.content),
    })),
  }
}

function entryOf(name: string, definition: PromptDefinition, code: PromptCode): PromptEntry {
  const args = compileSchema(definition.args, { what: `prompt "${name}" arguments` })
  const { title, description, icons, meta } = definition
  const prompt: Prompt = {
    name,
    title,
    description,
    arguments: definition.args === undefined ? undefined : argumentsOf(args.jsonSchema),
    icons,
    _meta: meta,
  }
  return { name, definition, code, args, prompt }
}

/** The arguments that an object schema describes, as prompts list them. */
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

import { ChannelError } from '../jsonrpc/channel.ts'
import { type Compiled, compileSchema } from '../mcp/schema.ts'
import { issueText } from '../mcp/schema-issues.ts'
import type { Infer, Schema } from '../mcp/standard-schema.ts'
import type { JsonSchema } from '../mcp/types/base.ts'
import type { Tool } from '../mcp/types/tools.ts'
import { limits } from '../util/limits.ts'
import type { ToolAnswer } from './results.ts'

/** The structured part of an answer, as the schema that the caller gave says it is. */
export type Structured<S> = S extends Schema ? Infer<S> : unknown

/**
 * The output schemas of the tools that have been listed: what a tool promised there is checked in what
 * it gives. Nothing is fetched for it.
 */
export class OutputSchemas {
  readonly #schemas = new Map<string, { schema: JsonSchema; compiled?: Compiled<unknown> }>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  learn({ name, outputSchema }: Tool): void {
    this.#schemas.delete(name)
    if (typeof outputSchema !== 'object' || outputSchema === null) return
    this.#schemas.set(name, { schema: outputSchema })
    if (this.#schemas.size <= limits.outputSchemas.default) return
    for (const oldest of this.#schemas.keys()) {
      this.#schemas.delete(oldest)
      break
    }
  }

  /** Whether there is anything to check. */
  knows(name: string): boolean {
    return this.#schemas.has(name)
  }

  /** The tools are others now. */
  forget(): void {
    this.#schemas.clear()
  }

  /** Rejects with a ChannelError `'framing'` when a tool gave something else than it had promised. */
  async check(name: string, answer: ToolAnswer): Promise<void> {
    const known = this.#schemas.get(name)
    // A tool that failed has promised nothing.
    if (known === undefined || answer.isError) return
    const what = `tool "${name}" output`
    let checked: Awaited<ReturnType<Compiled<unknown>['check']>>
    try {
      known.compiled ??= compileSchema(known.schema, { what, side: 'output' })
      checked = await known.compiled.check(answer.structured)
    } catch (error) {
      // A schema that cannot be used is its author's fault and no reason to withhold the answer.
      this.#schemas.delete(name)
      this.#onError(error)
      return
    }
    if (!checked.ok) throw new ChannelError('framing', `${what}: ${issueText(checked.issues)}`)
  }
}

/** The structured part, checked against the caller's own schema. Rejects with a `'framing'` error. */
export async function structuredAs<S extends Schema>(
  schema: S,
  name: string,
  { structured }: ToolAnswer,
): Promise<Infer<S>> {
  const what = `tool "${name}" output`
  const checked = await compileSchema(schema, { what, side: 'output' }).check(structured)
  if (!checked.ok) throw new ChannelError('framing', `${what}: ${issueText(checked.issues)}`)
  // The check: what fits the schema is what the schema says.
  return checked.value as Infer<S>
}

import { ChannelError } from '../../jsonrpc/channel.ts'
import { issueText } from '../../mcp/schema/issues.ts'
import { type Compiled, checkerOf, compileSchema } from '../../mcp/schema/schema.ts'
import type { Infer, Schema } from '../../mcp/schema/standard-schema.ts'
import type { JsonSchema } from '../../mcp/types/base.ts'
import type { Tool, ToolExecution } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ToolAnswer } from '../results.ts'

/** The structured part of an answer, as the schema that the caller gave says it is. */
export type Structured<S> = S extends Schema ? Infer<S> : unknown

interface Listed {
  readonly schema: JsonSchema | undefined
  readonly taskSupport: TaskSupport
  compiled?: Compiled<unknown>
}

/** Whether a tool may, must or must not be called as a task, in revisions that leave it to the client. */
export type TaskSupport = NonNullable<ToolExecution['taskSupport']>

/**
 * What the tools that have been listed promised there: the shape of what they give, which is checked,
 * and whether they run as tasks. Nothing is fetched for it.
 */
export class OutputSchemas {
  readonly #schemas = new Map<string, Listed>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  learn({ name, outputSchema, execution }: Tool): void {
    this.#schemas.delete(name)
    const isSchema = typeof outputSchema === 'object' && outputSchema !== null
    const taskSupport = execution?.taskSupport ?? 'forbidden'
    this.#schemas.set(name, { schema: isSchema ? outputSchema : undefined, taskSupport })
    if (this.#schemas.size <= limits.outputSchemas.default) return
    for (const oldest of this.#schemas.keys()) {
      this.#schemas.delete(oldest)
      break
    }
  }

  /** Whether there is anything to check. */
  knows(name: string): boolean {
    return this.#schemas.get(name)?.schema !== undefined
  }

  /** Whether a tool runs as a task; undefined for one that has not been listed. */
  taskSupport(name: string): TaskSupport | undefined {
    return this.#schemas.get(name)?.taskSupport
  }

  /** The tools are others now. */
  forget(): void {
    this.#schemas.clear()
  }

  /** Rejects with a ChannelError `'framing'` when a tool gave something else than it had promised. */
  async check(name: string, answer: ToolAnswer): Promise<void> {
    const known = this.#schemas.get(name)
    // A tool that failed has promised nothing.
    if (known?.schema === undefined || answer.isError) return
    const what = `tool "${name}" output`
    let checked: Awaited<ReturnType<Compiled<unknown>['check']>>
    try {
      known.compiled ??= compileSchema(known.schema, { what, side: 'output' })
      checked = await known.compiled.check(answer.structured)
    } catch (error) {
      // A schema that cannot be used is its author's fault and no reason to withhold the answer.
      this.#schemas.set(name, { schema: undefined, taskSupport: known.taskSupport })
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
  const checked = await checkerOf(schema, what).check(structured)
  if (!checked.ok) throw new ChannelError('framing', `${what}: ${issueText(checked.issues)}`)
  // The check: what fits the schema is what the schema says.
  return checked.value as Infer<S>
}

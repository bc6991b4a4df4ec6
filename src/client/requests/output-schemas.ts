import { ChannelError } from '../../jsonrpc/channel.ts'
import type { ToolAnswer } from '../../mcp/content/tool-answer.ts'
import { issueText } from '../../mcp/schema/issues.ts'
import { type Compiled, checkerOf, compileSchema } from '../../mcp/schema/schema.ts'
import type { Infer, Schema } from '../../mcp/schema/standard-schema.ts'
import type { JsonSchema } from '../../mcp/types/base.ts'
import type { Tool, ToolExecution } from '../../mcp/types/tools.ts'
import { limits } from '../../util/limits/limits.ts'

interface Listed {
  readonly schema: JsonSchema | undefined
  readonly taskSupport: ListedTaskSupport
  compiled?: Compiled<unknown> | undefined
}

/** Whether a tool may, must or must not be called as a task, in revisions where the client decides. */
export type ListedTaskSupport = NonNullable<ToolExecution['taskSupport']>

/**
 * The output schemas and task support of the tools that have been listed. Results are checked against these
 * schemas; nothing is fetched for that.
 */
export class OutputSchemas {
  readonly #tools = new Map<string, Listed>()
  /** The entries whose schema is compiled, oldest first. Compiled schemas take much memory. */
  #compiled: Listed[] = []
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Stores what a listed tool declares. The oldest entry is dropped beyond the limit `outputSchemas`. */
  add({ name, outputSchema, execution }: Tool): void {
    this.#tools.delete(name)
    const isSchema = typeof outputSchema === 'object' && outputSchema !== null
    const taskSupport = execution?.taskSupport ?? 'forbidden'
    this.#tools.set(name, { schema: isSchema ? outputSchema : undefined, taskSupport })
    if (this.#tools.size <= limits.outputSchemas.default) return
    for (const oldest of this.#tools.keys()) {
      this.#tools.delete(oldest)
      break
    }
  }

  /** Whether the tool has been listed with an output schema. */
  has(name: string): boolean {
    return this.#tools.get(name)?.schema !== undefined
  }

  /** Returns the task support of a tool; undefined for a tool that has not been listed. */
  taskSupport(name: string): ListedTaskSupport | undefined {
    return this.#tools.get(name)?.taskSupport
  }

  /** Drops all entries, because the list of tools has changed. */
  clear(): void {
    this.#tools.clear()
    this.#compiled = []
  }

  /** Keeps a compiled schema. The oldest one is dropped beyond the limit `outputValidators`. */
  #keep(entry: Listed): void {
    this.#compiled.push(entry)
    if (this.#compiled.length <= limits.outputValidators.default) return
    const oldest = this.#compiled.shift()
    if (oldest !== undefined) oldest.compiled = undefined
  }

  /** Rejects with a ChannelError `'framing'` if the structured content does not match the output schema. */
  async check(name: string, answer: ToolAnswer): Promise<void> {
    const entry = this.#tools.get(name)
    // The output schema does not apply to a tool that failed.
    if (entry?.schema === undefined || answer.isError) return
    const what = `tool "${name}" output`
    let checked: Awaited<ReturnType<Compiled<unknown>['check']>>
    try {
      if (entry.compiled === undefined) {
        entry.compiled = compileSchema(entry.schema, {
          what,
          side: 'output',
          isForeign: true,
          defaults: false,
        })
        this.#keep(entry)
      }
      checked = await entry.compiled.check(answer.structured)
    } catch (error) {
      // An unusable schema is a bug of the server and no reason to withhold the result.
      this.#tools.set(name, { schema: undefined, taskSupport: entry.taskSupport })
      this.#onError(error)
      return
    }
    if (!checked.ok) throw new ChannelError('framing', `${what}: ${issueText(checked.issues)}`)
  }
}

/** Checks the structured content against the caller's schema. Rejects with a ChannelError `'framing'` on a mismatch. */
export async function structuredAs<S extends Schema>(
  schema: S,
  name: string,
  { structured }: ToolAnswer,
): Promise<Infer<S>> {
  const what = `tool "${name}" output`
  const checked = await checkerOf(schema, what).check(structured)
  if (!checked.ok) throw new ChannelError('framing', `${what}: ${issueText(checked.issues)}`)
  // The check: a value that passed the schema has its type.
  return checked.value as Infer<S>
}

import type { Icon, JsonSchema, Meta, ObjectSchema } from './base.ts'

/** A tool, as listed by a server. */
export interface Tool {
  readonly name: string
  /** The display name; `annotations.title` comes second, `name` last. */
  readonly title?: string
  readonly description?: string
  readonly inputSchema: ObjectSchema
  /** The schema of `structuredContent`. In session revisions it describes an object. */
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly execution?: ToolExecution
  readonly icons?: readonly Icon[]
  readonly _meta?: Meta
}

/** Hints about the behavior of a tool. A client relies on them only if it trusts the server. */
export interface ToolAnnotations {
  readonly title?: string
  /** It changes nothing. False by default. */
  readonly readOnlyHint?: boolean
  /** It may destroy something. True by default. */
  readonly destructiveHint?: boolean
  /** Calling it twice has the same effect as calling it once. False by default. */
  readonly idempotentHint?: boolean
  /** It interacts with an open world. True by default. */
  readonly openWorldHint?: boolean
}

/** How a tool may be run, in the session revisions that have tasks. */
export interface ToolExecution {
  /** `'forbidden'` by default. */
  readonly taskSupport?: 'forbidden' | 'optional' | 'required'
}

import type { Icon, JsonSchema, Meta, ObjectSchema } from './base.ts'

/** A tool, as listed by a server. */
export interface Tool {
  /** The name by which clients call it. */
  readonly name: string
  /** The display name; `annotations.title` comes second, `name` last. */
  readonly title?: string
  /** What the tool does and when to use it, for the model. */
  readonly description?: string
  /** The schema of its arguments. */
  readonly inputSchema: ObjectSchema
  /** The schema of `structuredContent`. In session revisions it describes an object. */
  readonly outputSchema?: JsonSchema
  /** Hints about its effects. */
  readonly annotations?: ToolAnnotations
  /** How it may be run. */
  readonly execution?: ToolExecution
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** Metadata, by names that have a prefix. */
  readonly _meta?: Meta
}

/** Hints about the behavior of a tool. A client relies on them only if it trusts the server. */
export interface ToolAnnotations {
  /** The display name. */
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

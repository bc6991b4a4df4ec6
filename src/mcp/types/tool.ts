import type { Icon, JsonSchema, Meta, ObjectSchema } from './base.ts'

/** A tool as it is listed. */
export interface Tool {
  readonly name: string
  /** The name for people; `annotations.title` comes second, `name` last. */
  readonly title?: string
  readonly description?: string
  readonly inputSchema: ObjectSchema
  /** What `structuredContent` conforms to. In session revisions it describes an object. */
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly execution?: ToolExecution
  readonly icons?: readonly Icon[]
  readonly _meta?: Meta
}

/** What a tool says of itself. A client believes it only of a server that it trusts. */
export interface ToolAnnotations {
  readonly title?: string
  /** It changes nothing. False unless said. */
  readonly readOnlyHint?: boolean
  /** It may destroy something. True unless said. */
  readonly destructiveHint?: boolean
  /** Calling it twice is like calling it once. False unless said. */
  readonly idempotentHint?: boolean
  /** It reaches beyond a closed world. True unless said. */
  readonly openWorldHint?: boolean
}

/** How a tool may be run, in the session revisions that have tasks. */
export interface ToolExecution {
  /** `'forbidden'` unless said. */
  readonly taskSupport?: 'forbidden' | 'optional' | 'required'
}

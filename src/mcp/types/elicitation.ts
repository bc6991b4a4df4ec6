import type { NotificationParams, RequestParams, Result, TaskMetadata } from './base.ts'

/** A question to be answered by filling in a form. */
export interface ElicitFormParams extends RequestParams {
  readonly mode?: 'form'
  readonly message: string
  readonly requestedSchema: FormSchema
  readonly task?: TaskMetadata
}

/** A question to be settled on a web page, out of the client's sight. */
export interface ElicitUrlParams extends RequestParams {
  readonly mode: 'url'
  readonly message: string
  readonly url: string
  /** Required in session revisions, unknown in stateless ones. */
  readonly elicitationId?: string
  readonly task?: TaskMetadata
}

/** The params of `elicitation/create`. Without `mode` it is a form. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams

/** What a filled-in form may hold in one field. */
export type FormValue = string | number | boolean | readonly string[]

/** The answer to a question: what the user did, and what was filled in. */
export interface ElicitResult extends Result {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** Only with `'accept'` to a form. */
  readonly content?: Readonly<Record<string, FormValue>>
}

/** The params of `notifications/elicitation/complete`, in the session revisions that have it. */
export interface ElicitationCompleteParams extends NotificationParams {
  readonly elicitationId: string
}

/** The fields of a form: flat, and each of them primitive. */
export interface FormSchema {
  readonly $schema?: string
  readonly type: 'object'
  readonly properties: Readonly<Record<string, PrimitiveSchema>>
  readonly required?: readonly string[]
}

/** One field of a form. */
export type PrimitiveSchema = StringSchema | NumberSchema | BooleanSchema | EnumSchema

interface Field {
  readonly title?: string
  readonly description?: string
}

/** A field for a text. */
export interface StringSchema extends Field {
  readonly type: 'string'
  readonly format?: 'email' | 'uri' | 'date' | 'date-time'
  readonly minLength?: number
  readonly maxLength?: number
  readonly default?: string
}

/** A field for a number. */
export interface NumberSchema extends Field {
  readonly type: 'number' | 'integer'
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}

/** A field to be ticked. */
export interface BooleanSchema extends Field {
  readonly type: 'boolean'
  readonly default?: boolean
}

/** A choice of one or of several, with or without titles. */
export type EnumSchema =
  | SingleSelectSchema
  | TitledSingleSelectSchema
  | MultiSelectSchema
  | TitledMultiSelectSchema

/** One of several values. `enumNames` are their titles as older revisions write them. */
export interface SingleSelectSchema extends Field {
  readonly type: 'string'
  readonly enum: readonly string[]
  readonly enumNames?: readonly string[]
  readonly default?: string
}

/** One of several values, each with a title. */
export interface TitledSingleSelectSchema extends Field {
  readonly type: 'string'
  readonly oneOf: readonly TitledValue[]
  readonly default?: string
}

/** Any of several values. */
export interface MultiSelectSchema extends Several {
  readonly items: { readonly type: 'string'; readonly enum: readonly string[] }
}

/** Any of several values, each with a title. */
export interface TitledMultiSelectSchema extends Several {
  readonly items: { readonly anyOf: readonly TitledValue[] }
}

interface Several extends Field {
  readonly type: 'array'
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: readonly string[]
}

/** A value to choose, and what people see instead of it. */
export interface TitledValue {
  readonly const: string
  readonly title: string
}

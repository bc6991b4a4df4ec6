import type { NotificationParams, RequestParams, Result, TaskMetadata } from './base.ts'

/** The params of an elicitation with a form. */
export interface ElicitFormParams extends RequestParams {
  readonly mode?: 'form'
  readonly message: string
  readonly requestedSchema: FormSchema
  readonly task?: TaskMetadata
}

/** The params of an elicitation on a web page, out of the client's sight. */
export interface ElicitUrlParams extends RequestParams {
  readonly mode: 'url'
  readonly message: string
  readonly url: string
  /** Required in session revisions; does not exist in stateless ones. */
  readonly elicitationId?: string
  readonly task?: TaskMetadata
}

/** The params of `elicitation/create`. Without `mode` it is a form. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams

/** The value of one field of a form. */
export type FormValue = string | number | boolean | readonly string[]

/** The result of `elicitation/create`: the action of the user, and the content of the form. */
export interface ElicitResult extends Result {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** Only with `'accept'` to a form. */
  readonly content?: Readonly<Record<string, FormValue>>
}

/** The params of `notifications/elicitation/complete`, in the session revisions that have it. */
export interface ElicitationCompleteParams extends NotificationParams {
  readonly elicitationId: string
}

/** The schema of a form: a flat object of primitive fields. */
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

/** A text field. */
export interface StringSchema extends Field {
  readonly type: 'string'
  readonly format?: 'email' | 'uri' | 'date' | 'date-time'
  readonly minLength?: number
  readonly maxLength?: number
  readonly default?: string
}

/** A number field. */
export interface NumberSchema extends Field {
  readonly type: 'number' | 'integer'
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}

/** A checkbox. */
export interface BooleanSchema extends Field {
  readonly type: 'boolean'
  readonly default?: boolean
}

/** A single or multiple choice, with or without titles. */
export type EnumSchema =
  | SingleSelectSchema
  | TitledSingleSelectSchema
  | MultiSelectSchema
  | TitledMultiSelectSchema

/** A single choice. `enumNames` are the titles, as older revisions write them. */
export interface SingleSelectSchema extends Field {
  readonly type: 'string'
  readonly enum: readonly string[]
  readonly enumNames?: readonly string[]
  readonly default?: string
}

/** A single choice, each option with a title. */
export interface TitledSingleSelectSchema extends Field {
  readonly type: 'string'
  readonly oneOf: readonly TitledValue[]
  readonly default?: string
}

/** A multiple choice. */
export interface MultiSelectSchema extends Several {
  readonly items: { readonly type: 'string'; readonly enum: readonly string[] }
}

/** A multiple choice, each option with a title. */
export interface TitledMultiSelectSchema extends Several {
  readonly items: { readonly anyOf: readonly TitledValue[] }
}

interface Several extends Field {
  readonly type: 'array'
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: readonly string[]
}

/** An option of a choice, and its title for users. */
export interface TitledValue {
  readonly const: string
  readonly title: string
}

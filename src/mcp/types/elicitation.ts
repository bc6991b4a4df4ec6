import type { NotificationParams, RequestParams, Result, TaskMetadata } from './base.ts'

/** The params of an elicitation with a form. */
export interface ElicitFormParams extends RequestParams {
  readonly mode?: 'form'
  /** Shown to the user. */
  readonly message: string
  /** The fields of the form. */
  readonly requestedSchema: FormSchema
  /** Asks for the answer as a task, in revisions that have that. */
  readonly task?: TaskMetadata
}

/** The params of an elicitation on a web page, out of the client's sight. */
export interface ElicitUrlParams extends RequestParams {
  readonly mode: 'url'
  /** Shown to the user. */
  readonly message: string
  /** The page to visit. */
  readonly url: string
  /** Required in session revisions; does not exist in stateless ones. */
  readonly elicitationId?: string
  /** Asks for the answer as a task, in revisions that have that. */
  readonly task?: TaskMetadata
}

/** The params of `elicitation/create`. Without `mode` it is a form. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams

/** The value of one field of a form. */
export type FormValue = string | number | boolean | readonly string[]

/** The result of `elicitation/create`: the action of the user, and the content of the form. */
export interface ElicitResult extends Result {
  /** What the user did: sent the form, refused, or dismissed it. */
  readonly action: 'accept' | 'decline' | 'cancel'
  /** Only with `'accept'` to a form. */
  readonly content?: Readonly<Record<string, FormValue>>
}

/** The params of `notifications/elicitation/complete`, in the session revisions that have it. */
export interface ElicitationCompleteParams extends NotificationParams {
  /** The id of the elicitation. */
  readonly elicitationId: string
}

/** The schema of a form: a flat object of primitive fields. */
export interface FormSchema {
  /** The dialect of JSON Schema. */
  readonly $schema?: string
  readonly type: 'object'
  /** The fields, by name. */
  readonly properties: Readonly<Record<string, PrimitiveSchema>>
  /** The names of the fields that must have a value. */
  readonly required?: readonly string[]
}

/** One field of a form. */
export type PrimitiveSchema = StringSchema | NumberSchema | BooleanSchema | EnumSchema

/** The members of every field of a form. */
export interface FormFieldMembers {
  /** The label of the field. */
  readonly title?: string
  /** What to enter, for the user. */
  readonly description?: string
}

/** A text field. */
export interface StringSchema extends FormFieldMembers {
  readonly type: 'string'
  /** What kind of text it is. */
  readonly format?: 'email' | 'uri' | 'date' | 'date-time'
  /** The least number of characters. */
  readonly minLength?: number
  /** The greatest number of characters. */
  readonly maxLength?: number
  /** The text at first. */
  readonly default?: string
}

/** A number field. */
export interface NumberSchema extends FormFieldMembers {
  /** Whether fractions are allowed. */
  readonly type: 'number' | 'integer'
  /** The least value. */
  readonly minimum?: number
  /** The greatest value. */
  readonly maximum?: number
  /** The value at first. */
  readonly default?: number
}

/** A checkbox. */
export interface BooleanSchema extends FormFieldMembers {
  readonly type: 'boolean'
  /** Whether it is checked at first. */
  readonly default?: boolean
}

/** A single or multiple choice, with or without titles. */
export type EnumSchema =
  | SingleSelectSchema
  | TitledSingleSelectSchema
  | MultiSelectSchema
  | TitledMultiSelectSchema

/** A single choice. `enumNames` are the titles, as older revisions write them. */
export interface SingleSelectSchema extends FormFieldMembers {
  readonly type: 'string'
  /** The options. */
  readonly enum: readonly string[]
  /** The titles of the options, in the same order. */
  readonly enumNames?: readonly string[]
  /** The option that is chosen at first. */
  readonly default?: string
}

/** A single choice, each option with a title. */
export interface TitledSingleSelectSchema extends FormFieldMembers {
  readonly type: 'string'
  /** The options. */
  readonly oneOf: readonly TitledValue[]
  /** The option that is chosen at first. */
  readonly default?: string
}

/** A multiple choice. */
export interface MultiSelectSchema extends MultiSelectMembers {
  /** What is chosen from. */
  readonly items: {
    readonly type: 'string'
    /** The options. */
    readonly enum: readonly string[]
  }
}

/** A multiple choice, each option with a title. */
export interface TitledMultiSelectSchema extends MultiSelectMembers {
  /** What is chosen from. */
  readonly items: {
    /** The options. */
    readonly anyOf: readonly TitledValue[]
  }
}

/** The members of every multiple choice. */
export interface MultiSelectMembers extends FormFieldMembers {
  readonly type: 'array'
  /** How many options must be chosen at least. */
  readonly minItems?: number
  /** How many options may be chosen at most. */
  readonly maxItems?: number
  /** The options that are chosen at first. */
  readonly default?: readonly string[]
}

/** An option of a choice, and its title for users. */
export interface TitledValue {
  /** The value that is sent. */
  readonly const: string
  /** What the user sees. */
  readonly title: string
}

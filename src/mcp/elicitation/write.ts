import { defined } from '../../util/objects.ts'
import type { PrimitiveSchema, TitledValue } from '../types/elicitation.ts'
import type { FormField, Option, Options } from './field.ts'

/** Returns the schema of a field, for all revisions but the first one with forms. */
export function writeFormField(field: FormField): PrimitiveSchema {
  // The check: the default of a field is valid, so that its type is right.
  return { ...writeShape(field), ...defined({ default: field.default }) } as PrimitiveSchema
}

function writeShape(field: FormField): PrimitiveSchema {
  const labels = defined({ title: field.title, description: field.description })
  switch (field.kind) {
    case 'text': {
      const { minLength, maxLength, format } = field
      return { type: 'string', ...labels, ...defined({ minLength, maxLength, format }) }
    }
    case 'number': {
      const { isInteger, minimum, maximum } = field
      const type = isInteger ? 'integer' : 'number'
      return { type, ...labels, ...defined({ minimum, maximum }) }
    }
    case 'boolean':
      return { type: 'boolean', ...labels }
    case 'one':
      return field.spelling === 'titled'
        ? { type: 'string', ...labels, oneOf: titledValues(field.options) }
        : { type: 'string', ...labels, ...named(field) }
    case 'many': {
      const { options, spelling, minItems, maxItems } = field
      const rest = { ...labels, ...defined({ minItems, maxItems }) }
      return spelling === 'titled'
        ? { type: 'array', ...rest, items: { anyOf: titledValues(options) } }
        : { type: 'array', ...rest, items: { type: 'string', enum: values(options) } }
    }
  }
}

/** A field in the first revision with forms: its schemas by name, and how to read its value back. */
export interface BasicFormField {
  readonly properties: ReadonlyMap<string, PrimitiveSchema>
  /** Returns the value of the field from the content of a response; undefined if there is none. */
  read(content: ReadonlyMap<string, unknown>): unknown
}

/**
 * Returns a field for the first revision with forms. That revision has defaults only for booleans, has
 * option labels only as `enumNames`, and has no multiple choice: a multiple choice becomes one boolean
 * per option. `isTaken` says which property names are in use.
 */
export function writeBasicFormField(
  name: string,
  field: FormField,
  isTaken: (name: string) => boolean,
): BasicFormField {
  if (field.kind === 'many') return boxes(name, field, isTaken)
  const schema: PrimitiveSchema =
    field.kind === 'boolean'
      ? writeFormField(field)
      : writeShape(field.kind === 'one' ? { ...field, ...withNames(field) } : field)
  return { properties: new Map([[name, schema]]), read: content => content.get(name) }
}

function boxes(
  name: string,
  field: Extract<FormField, { kind: 'one' | 'many' }>,
  isTaken: (name: string) => boolean,
): BasicFormField {
  const ticked = Array.isArray(field.default) ? field.default : []
  const keys = new Map<string, string>()
  const properties = new Map<string, PrimitiveSchema>()
  for (const [index, { value, title = value }] of field.options.entries()) {
    let key = `${name}.${index + 1}`
    while (isTaken(key)) key += '_'
    keys.set(key, value)
    properties.set(key, {
      type: 'boolean',
      title: `${field.title ?? name}: ${title}`,
      ...defined({ description: field.description }),
      default: ticked.includes(value),
    })
  }
  return {
    properties,
    read: content => {
      if (![...keys.keys()].some(key => content.has(key))) return undefined
      return [...keys].filter(([key]) => content.get(key) === true).map(([, value]) => value)
    },
  }
}

function withNames({ options, spelling }: Options): Options {
  return { options, spelling: spelling === 'plain' ? 'plain' : 'named' }
}

function named({ options, spelling }: Options): { enum: string[]; enumNames?: string[] } {
  if (spelling === 'plain') return { enum: values(options) }
  return { enum: values(options), enumNames: options.map(({ value, title = value }) => title) }
}

/** Returns the options with a title each; options without one show their value. */
function titledValues(options: readonly Option[]): TitledValue[] {
  return options.map(({ value, title = value }) => ({ const: value, title }))
}

function values(options: readonly Option[]): string[] {
  return options.map(({ value }) => value)
}

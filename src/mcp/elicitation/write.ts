import { defined } from '../../util/defined.ts'
import type { PrimitiveSchema, TitledValue } from '../types/elicitation.ts'
import type { Field, Option, Options } from './field.ts'

/** Writes a field as the schema of a property, as all revisions have it but the first with forms. */
export function writeField(field: Field): PrimitiveSchema {
  // The check: what a field has for a default fits it, so that its type is the right one.
  return { ...writeShape(field), ...defined({ default: field.default }) } as PrimitiveSchema
}

function writeShape(field: Field): PrimitiveSchema {
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

/** A field as the first revision with forms has it: its schemas by name, and the way back. */
export interface BasicField {
  readonly properties: ReadonlyMap<string, PrimitiveSchema>
  /** Makes of what was filled in the value of the field; undefined for none. */
  read(content: ReadonlyMap<string, unknown>): unknown
}

/**
 * Writes a field for the first revision with forms. There, only booleans have defaults, titles of
 * options are `enumNames`, and nothing has several values: a list of choices becomes a box to tick
 * for each. `isTaken` says which names for these are not free.
 */
export function writeBasicField(
  name: string,
  field: Field,
  isTaken: (name: string) => boolean,
): BasicField {
  if (field.kind === 'many') return boxes(name, field, isTaken)
  const schema: PrimitiveSchema =
    field.kind === 'boolean'
      ? writeField(field)
      : writeShape(field.kind === 'one' ? { ...field, ...withNames(field) } : field)
  return { properties: new Map([[name, schema]]), read: content => content.get(name) }
}

function boxes(
  name: string,
  field: Extract<Field, { kind: 'one' | 'many' }>,
  isTaken: (name: string) => boolean,
): BasicField {
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

/** Each with a title: where only some have one, the others show their values. */
function titledValues(options: readonly Option[]): TitledValue[] {
  return options.map(({ value, title = value }) => ({ const: value, title }))
}

function values(options: readonly Option[]): string[] {
  return options.map(({ value }) => value)
}

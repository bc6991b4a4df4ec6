import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { toJsonSchema } from '../schema/convert.ts'
import type { Checked, Issue } from '../schema/issues.ts'
import { copyOf } from '../schema/json-schema.ts'
import { checkerOf, SchemaError } from '../schema/schema.ts'
import { type Infer, isStandardSchema, type Schema } from '../schema/standard-schema.ts'
import type { Members } from '../types/base.ts'
import type { FormSchema } from '../types/elicitation.ts'
import { type FormField, faultOf } from './field.ts'
import { allowOnly, readFormField } from './read.ts'
import { writeBasicFormField, writeFormField } from './write.ts'

/** Applies defaults to the content of a response to a form, and checks it. */
export interface FormAnswers<T> {
  /** Returns the content with the defaults of missing fields. Creates a new object. */
  applyDefaults(content: Members): Members
  /** Checks the content. Asynchronous only if the schema is. */
  check(content: unknown): Checked<T> | Promise<Checked<T>>
}

/** A form that a server requests. */
export interface ReceivedForm extends FormAnswers<Members> {
  check(content: unknown): Checked<Members>
}

/** A form to request from a client. */
export interface Form<T> extends FormAnswers<T> {
  /** The schema that is sent in all revisions but the first one with forms. */
  readonly requestedSchema: FormSchema
  /** The form that is sent in the first revision with forms. */
  readonly basic: BasicForm
}

/** A form that uses only what the first revision with forms has. */
export interface BasicForm {
  readonly requestedSchema: FormSchema
  /** Converts the content of a response into content for the original form. */
  restore(content: Members): Members
}

/**
 * Creates a form from a schema: a flat object of strings, numbers, integers, booleans, choices and
 * arrays of choices. `what` starts the error messages: `elicitation of tool "deploy"`.
 *
 * Throws a SchemaError that names the property if a form cannot represent it. Constraints that JSON
 * Schema does not show, such as refinements, are still checked in the response.
 */
export function elicitationSchema<const S extends Schema>(schema: S, what: string): Form<Infer<S>> {
  try {
    const isStandard = isStandardSchema(schema)
    const { fields, required } = readForm(
      copyOf(isStandard ? toJsonSchema(schema, 'input') : schema),
    )
    // The check: the fields have the types of the schema.
    const checker = (
      isStandard
        ? checkerOf(schema, what)
        : { check: (content: unknown) => checkFields(fields, required, content) }
    ) as Pick<FormAnswers<Infer<S>>, 'check'>
    let basic: BasicForm | undefined
    return {
      requestedSchema: formSchema(mapped(fields, writeFormField), required),
      get basic() {
        basic ??= basicForm(fields, required)
        return basic
      },
      applyDefaults: content => withDefaults(fields, content),
      check: content => checker.check(content),
    }
  } catch (error) {
    throw error instanceof SchemaError ? error : new SchemaError(what, error)
  }
}

/**
 * Reads a form that a server requests, to apply its defaults and to check the response before it is
 * sent. Of fields that a form cannot represent only the defaults are used; checking them is left to the
 * server. Never throws.
 */
export function receivedForm(requestedSchema: unknown): ReceivedForm {
  const properties = isRecord(requestedSchema) ? requestedSchema.properties : undefined
  const required = isRecord(requestedSchema) ? requestedSchema.required : undefined
  const fields = new Map<string, FormField>()
  const defaults = new Map<string, { readonly default?: unknown }>()
  for (const [name, schema] of Object.entries(isRecord(properties) ? properties : {})) {
    if (isRecord(schema)) defaults.set(name, schema)
    try {
      fields.set(name, readFormField(schema))
    } catch {
      // Left to the server.
    }
  }
  const names = Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
  return {
    applyDefaults: content => withDefaults(defaults, content),
    check: content => checkFields(fields, names, content),
  }
}

type Fields = ReadonlyMap<string, FormField>

function readForm(schema: Members): { fields: Fields; required: readonly string[] } {
  const { type, properties = {}, required = [] } = schema
  if (type !== 'object' || !isRecord(properties)) {
    throw new Error('a form must be an object with properties')
  }
  // `additionalProperties` makes no difference, because a form has no place for other members.
  allowOnly(schema, ['properties', 'required', 'additionalProperties'])
  const fields = new Map<string, FormField>()
  for (const [name, property] of Object.entries(properties)) {
    try {
      fields.set(name, readFormField(property))
    } catch (error) {
      const why = errorMessage(error)
      throw new Error(`property "${name}" ${why}`)
    }
  }
  const names: readonly unknown[] = Array.isArray(required) ? required : [required]
  const known = names.filter((name): name is string => typeof name === 'string' && fields.has(name))
  if (known.length < names.length) throw new Error('requires an undefined property')
  return { fields, required: known }
}

function formSchema(
  properties: ReadonlyMap<string, FormSchema['properties'][string]>,
  required: readonly string[],
): FormSchema {
  const schema = { type: 'object', properties: Object.fromEntries(properties) } as const
  return required.length === 0 ? schema : { ...schema, required }
}

function basicForm(fields: Fields, required: readonly string[]): BasicForm {
  const isTaken = (name: string) => fields.has(name)
  const basics = mapped(fields, (field, name) => writeBasicFormField(name, field, isTaken))
  const properties = new Map([...basics.values()].flatMap(basic => [...basic.properties]))
  return {
    requestedSchema: formSchema(
      properties,
      required.filter(name => properties.has(name)),
    ),
    restore(content) {
      const given = new Map(Object.entries(content))
      const read = [...basics].map(([name, basic]) => [name, basic.read(given)] as const)
      const own = read.filter(([, value]) => value !== undefined)
      const foreign = [...given].filter(([name]) => !properties.has(name))
      return Object.fromEntries([...foreign, ...own])
    },
  }
}

function withDefaults(
  fields: ReadonlyMap<string, { readonly default?: unknown }>,
  content: Members,
): Members {
  const absent = [...fields].filter(
    ([name, field]) => field.default !== undefined && !isGiven(content, name),
  )
  return Object.fromEntries([
    ...Object.entries(content),
    ...absent.map(([name, field]) => [name, field.default] as const),
  ])
}

function checkFields(
  fields: Fields,
  required: readonly string[],
  content: unknown,
): Checked<Members> {
  if (!isRecord(content)) return { ok: false, issues: [{ path: [], message: 'expected object' }] }
  const missing = required.filter(name => !isGiven(content, name))
  const issues: Issue[] = missing.map(name => ({ path: [name], message: 'is required' }))
  for (const [name, field] of fields) {
    const message = isGiven(content, name) ? faultOf(field, content[name]) : undefined
    if (message !== undefined) issues.push({ path: [name], message })
  }
  return issues.length === 0 ? { ok: true, value: content } : { ok: false, issues }
}

function isGiven(content: Members, name: string): boolean {
  return Object.hasOwn(content, name) && content[name] !== undefined
}

function mapped<T>(
  fields: Fields,
  map: (field: FormField, name: string) => T,
): ReadonlyMap<string, T> {
  return new Map(Array.from(fields, ([name, field]) => [name, map(field, name)] as const))
}

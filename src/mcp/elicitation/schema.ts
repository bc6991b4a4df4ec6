import { errorWords } from '../../util/error-words.ts'
import { isRecord } from '../../util/record.ts'
import { toJsonSchema } from '../schema/convert.ts'
import type { Checked, Issue } from '../schema/issues.ts'
import { copyOf } from '../schema/json-schema.ts'
import { checkerOf, SchemaError } from '../schema/schema.ts'
import { type Infer, isStandardSchema, type Schema } from '../schema/standard-schema.ts'
import type { Members } from '../types/base.ts'
import type { FormSchema } from '../types/elicitation.ts'
import { type Field, faultOf } from './field.ts'
import { allowOnly, readField } from './read.ts'
import { writeBasicField, writeField } from './write.ts'

/** A form as far as its answers go. */
export interface FormAnswers<T> {
  /** What was filled in, and the defaults for what was not. Makes a new object. */
  applyDefaults(content: Members): Members
  /** Checks what was filled in. Asynchronous only where the schema itself is. */
  check(content: unknown): Checked<T> | Promise<Checked<T>>
}

/** A form that somebody else asks for. */
export interface ReceivedForm extends FormAnswers<Members> {
  check(content: unknown): Checked<Members>
}

/** A form to be asked for. */
export interface Form<T> extends FormAnswers<T> {
  /** What is sent, in all revisions but the first that has forms. */
  readonly requestedSchema: FormSchema
  /** What is sent in the first revision that has forms. */
  readonly basic: BasicForm
}

/** A form in the words of the first revision that has them. */
export interface BasicForm {
  readonly requestedSchema: FormSchema
  /** Turns what was filled in into an answer to the form itself. */
  restore(content: Members): Members
}

/**
 * Makes a form of a schema: a flat object of strings, numbers, integers, booleans, choices and lists of
 * choices. `what` begins its errors: `the question of tool "deploy"`.
 *
 * Throws a SchemaError that names the property where a form cannot ask for what the schema asks for.
 * What no JSON Schema shows, such as a refinement, is checked in the answer all the same.
 */
export function elicitationSchema<const S extends Schema>(schema: S, what: string): Form<Infer<S>> {
  try {
    const isStandard = isStandardSchema(schema)
    const { fields, required } = readForm(
      copyOf(isStandard ? toJsonSchema(schema, 'input') : schema),
    )
    // The check: the fields say what the schema says.
    const checker = (
      isStandard
        ? checkerOf(schema, what)
        : { check: (content: unknown) => checkFields(fields, required, content) }
    ) as Pick<FormAnswers<Infer<S>>, 'check'>
    let basic: BasicForm | undefined
    return {
      requestedSchema: formSchema(mapped(fields, writeField), required),
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
 * Reads a form that somebody else asks for, to fill in its defaults and to check the answer before it
 * is sent. Fields that no form should have are passed over, save for their defaults: their author
 * will see to them. Never throws.
 */
export function receivedForm(requestedSchema: unknown): ReceivedForm {
  const properties = isRecord(requestedSchema) ? requestedSchema.properties : undefined
  const required = isRecord(requestedSchema) ? requestedSchema.required : undefined
  const fields = new Map<string, Field>()
  const defaults = new Map<string, { readonly default?: unknown }>()
  for (const [name, schema] of Object.entries(isRecord(properties) ? properties : {})) {
    if (isRecord(schema)) defaults.set(name, schema)
    try {
      fields.set(name, readField(schema))
    } catch {
      // Not to be checked here.
    }
  }
  const names = Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
  return {
    applyDefaults: content => withDefaults(defaults, content),
    check: content => checkFields(fields, names, content),
  }
}

type Fields = ReadonlyMap<string, Field>

function readForm(schema: Members): { fields: Fields; required: readonly string[] } {
  const { type, properties = {}, required = [] } = schema
  if (type !== 'object' || !isRecord(properties)) {
    throw new Error('a form must be an object with properties')
  }
  // Whether other members are welcome makes no difference to a form, which has no place for them.
  allowOnly(schema, ['properties', 'required', 'additionalProperties'])
  const fields = new Map<string, Field>()
  for (const [name, property] of Object.entries(properties)) {
    try {
      fields.set(name, readField(property))
    } catch (error) {
      const why = errorWords(error)
      throw new Error(`property "${name}" ${why}`)
    }
  }
  const names: readonly unknown[] = Array.isArray(required) ? required : [required]
  const known = names.filter((name): name is string => typeof name === 'string' && fields.has(name))
  if (known.length < names.length) throw new Error('requires a property that it does not have')
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
  const basics = mapped(fields, (field, name) => writeBasicField(name, field, isTaken))
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

function mapped<T>(fields: Fields, map: (field: Field, name: string) => T): ReadonlyMap<string, T> {
  return new Map(Array.from(fields, ([name, field]) => [name, map(field, name)] as const))
}

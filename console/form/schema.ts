/** A JSON Schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>

/** What a schema looks like as a part of a form. */
export type Shape =
  | { readonly kind: 'const'; readonly value: unknown }
  | { readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'null' | 'json' }
  | { readonly kind: 'choice' | 'choices'; readonly options: readonly Option[] }
  | { readonly kind: 'union'; readonly variants: readonly Variant[] }
  | { readonly kind: 'list'; readonly items: Schema }
  | {
      readonly kind: 'object'
      readonly members: readonly Member[]
      /** The schema of members that are not named; undefined if there can be none, or nothing is known of them. */
      readonly others: Schema | undefined
    }

/** One value to choose. */
export interface Option {
  readonly value: unknown
  readonly label: string
}

/** One schema to choose. */
export interface Variant {
  readonly name: string
  readonly schema: Schema
}

/** A named member of an object. */
export interface Member {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** References in a row that are followed; a longer chain refers to itself. */
const mostReferences = 32

/** Returns a schema without its references to parts of `root`, and with the parts of its `allOf` merged. */
export function resolved(schema: unknown, root: Schema): Schema {
  let found: Schema = isSchema(schema) ? schema : {}
  for (let at = 0; typeof found.$ref === 'string'; at++) {
    if (at >= mostReferences) return {}
    const { $ref, ...siblings } = found
    const target = targetOf(String($ref), root)
    if (target === undefined) return siblings
    found = merged(target, siblings)
  }
  const { allOf, ...rest } = found
  if (!Array.isArray(allOf)) return found
  return allOf.reduce<Schema>((sum, part) => merged(sum, resolved(part, root)), rest)
}

/** Returns the part of a form that a schema stands for. What no part fits is edited as JSON. */
export function shapeOf(given: unknown, root: Schema): Shape {
  const schema = resolved(given, root)
  if ('const' in schema) return { kind: 'const', value: schema.const }
  if (Array.isArray(schema.enum)) {
    const names: readonly unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : []
    return {
      kind: 'choice',
      options: schema.enum.map((value, at) => ({
        value,
        label: String(names[at] ?? label(value)),
      })),
    }
  }
  const { oneOf, anyOf, ...base } = schema
  const alternatives = Array.isArray(oneOf) ? oneOf : anyOf
  if (Array.isArray(alternatives) && alternatives.length > 0) {
    return alternativesShape(alternatives, base, root)
  }
  if (Array.isArray(schema.type)) {
    const variants = schema.type.map(type => ({ name: String(type), schema: { ...schema, type } }))
    return { kind: 'union', variants }
  }
  switch (schema.type ?? impliedType(schema)) {
    case 'string':
      return { kind: 'text' }
    case 'number':
      return { kind: 'number' }
    case 'integer':
      return { kind: 'integer' }
    case 'boolean':
      return { kind: 'boolean' }
    case 'null':
      return { kind: 'null' }
    case 'object':
      return objectShape(schema)
    case 'array':
      return listShape(schema, root)
    default:
      return { kind: 'json' }
  }
}

/** Returns the variant that a value belongs to: the first whose type, constants and required members it has. */
export function variantOf(value: unknown, variants: readonly Variant[], root: Schema): number {
  return variants.findIndex(({ schema }) => fits(value, resolved(schema, root), root))
}

/**
 * Returns the value that a form starts with: constants, and objects that must be there; undefined for what the person
 * has to fill in.
 */
export function initialValue(given: unknown, root: Schema, depth = 0): unknown {
  if (depth > mostDepth) return undefined
  const shape = shapeOf(given, root)
  switch (shape.kind) {
    case 'const':
      return shape.value
    case 'null':
      return null
    case 'boolean':
      return false
    case 'choices':
    case 'list':
      return []
    case 'union':
      return initialValue(shape.variants[0]?.schema, root, depth + 1)
    case 'object':
      return Object.fromEntries(
        shape.members.flatMap(({ name, schema, isRequired }) => {
          const value = isRequired ? initialValue(schema, root, depth + 1) : undefined
          return value === undefined ? [] : [[name, value]]
        }),
      )
    default:
      return undefined
  }
}

/** Returns a value with the whole structure of a schema, as a start for a person who edits JSON. */
export function skeleton(given: unknown, root: Schema, depth = 0): unknown {
  const schema = resolved(given, root)
  if ('default' in schema) return schema.default
  const shape = shapeOf(schema, root)
  if (depth > mostDepth) return null
  switch (shape.kind) {
    case 'const':
      return shape.value
    case 'text':
      return ''
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 0
    case 'boolean':
      return false
    case 'choice':
      return shape.options[0]?.value ?? null
    case 'choices':
      return []
    case 'union':
      return skeleton(shape.variants[0]?.schema, root, depth + 1)
    case 'list':
      return [skeleton(shape.items, root, depth + 1)]
    case 'object':
      return Object.fromEntries(
        shape.members.map(({ name, schema: its }) => [name, skeleton(its, root, depth + 1)]),
      )
    default:
      return null
  }
}

/** Deeper structures, which may refer to themselves, are left to the person. */
const mostDepth = 6

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Finds the part of `root` that a reference names; undefined for one to another document. */
function targetOf(reference: string, root: Schema): Schema | undefined {
  if (!reference.startsWith('#')) return undefined
  let found: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    found = isSchema(found) || Array.isArray(found) ? Reflect.get(found, name) : undefined
  }
  return isSchema(found) ? found : undefined
}

/** Merges two schemas that both apply. */
function merged(one: Schema, other: Schema): Schema {
  const properties = { ...partsOf(one.properties), ...partsOf(other.properties) }
  const required = [...namesIn(one.required), ...namesIn(other.required)]
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  }
}

function partsOf(value: unknown): Schema {
  return isSchema(value) ? value : {}
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
}

function impliedType(schema: Schema): string | undefined {
  if ('properties' in schema || 'additionalProperties' in schema) return 'object'
  return 'items' in schema ? 'array' : undefined
}

function objectShape(schema: Schema): Shape {
  const required = namesIn(schema.required)
  const members = Object.entries(partsOf(schema.properties)).map(([name, its]) => ({
    name,
    schema: isSchema(its) ? its : {},
    isRequired: required.includes(name),
  }))
  const { additionalProperties: others } = schema
  if (isSchema(others)) return { kind: 'object', members, others }
  // Without named members, an object of anything is all that there can be.
  const isOpen = members.length === 0 && others !== false
  return { kind: 'object', members, others: isOpen || others === true ? {} : undefined }
}

function listShape(schema: Schema, root: Schema): Shape {
  if (Array.isArray(schema.prefixItems) || Array.isArray(schema.items)) return { kind: 'json' }
  const items = isSchema(schema.items) ? schema.items : {}
  const each = shapeOf(items, root)
  if (each.kind === 'choice') return { kind: 'choices', options: each.options }
  return { kind: 'list', items }
}

function alternativesShape(alternatives: readonly unknown[], base: Schema, root: Schema): Shape {
  const all = alternatives.map(each => resolved(each, root))
  if (all.every(each => 'const' in each)) {
    const options = all.map(each => ({
      value: each.const,
      label: typeof each.title === 'string' ? each.title : label(each.const),
    }))
    return { kind: 'choice', options }
  }
  const schemas = all.map(each => merged(base, each))
  const names = schemas.map((each, at) => variantName(each, all[at] ?? {}, alternatives[at], root))
  return {
    kind: 'union',
    variants: schemas.map((schema, at) => {
      const name = names[at] ?? ''
      const isUnique = names.indexOf(name) === names.lastIndexOf(name)
      return { name: isUnique ? name : `${name} ${at + 1}`, schema }
    }),
  }
}

/** Names a variant by its title, else by the constant that tells it apart, else by its definition, else by its type. */
function variantName(schema: Schema, own: Schema, given: unknown, root: Schema): string {
  if (typeof own.title === 'string') return own.title
  for (const each of Object.values(partsOf(schema.properties))) {
    const member = resolved(each, root)
    if ('const' in member) return label(member.const)
    if (Array.isArray(member.enum) && member.enum.length === 1) return label(member.enum[0])
  }
  const reference = isSchema(given) ? given.$ref : undefined
  if (typeof reference === 'string') return reference.slice(reference.lastIndexOf('/') + 1)
  const type = schema.type ?? impliedType(schema)
  return typeof type === 'string' ? type : 'anything'
}

function label(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function fits(value: unknown, schema: Schema, root: Schema): boolean {
  if ('const' in schema) return JSON.stringify(schema.const) === JSON.stringify(value)
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  const type = schema.type ?? impliedType(schema)
  if (typeof type === 'string' && !isOfType(value, type)) return false
  if (!isSchema(value)) return true
  if (namesIn(schema.required).some(name => hasConstant(schema, name, root) && !(name in value))) {
    return false
  }
  return Object.entries(partsOf(schema.properties)).every(([name, its]) => {
    const member = resolved(its, root)
    return !('const' in member) || !(name in value) || fits(value[name], member, root)
  })
}

function hasConstant(schema: Schema, name: string, root: Schema): boolean {
  return 'const' in resolved(partsOf(schema.properties)[name], root)
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isSchema(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

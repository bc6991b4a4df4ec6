import { addressSchemes } from './address.ts'
import type { Field, FieldType, Json, KeyKind, TextRule } from './field.ts'
import { type ForeignKey, foreignFileKeys, foreignServerKeys } from './other-hosts.ts'
import { configGroups } from './schema.ts'

type Schema = { readonly [name: string]: Json }

/**
 * The table of fields as JSON Schema (draft-07), for editors: names are completed, meanings shown, and
 * most of what a check would refuse is underlined. Rules between fields are left to the check.
 */
export function configJsonSchema(): Schema {
  const others = Array.from(configGroups.keys()).filter(name => name !== 'file')
  const definitions = Object.fromEntries(others.map(name => [name, groupSchema(name)]))
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of a Trunkline router',
    allowComments: true,
    allowTrailingCommas: true,
    ...groupSchema('file'),
    definitions,
  }
}

function groupSchema(named: string): Schema {
  const properties: Record<string, Json> = {}
  for (const [name, field] of configGroups.get(named)?.fields ?? []) {
    properties[name] = fieldSchema(field)
  }
  for (const [name, key] of foreignKeys.get(named) ?? []) {
    if (key.severity === 'warning') {
      properties[name] = { description: key.message, deprecated: true }
    }
  }
  return { type: 'object', properties, additionalProperties: false, ...required.get(named) }
}

const foreignKeys = new Map<string, ReadonlyMap<string, ForeignKey>>([
  ['file', foreignFileKeys],
  ['server', foreignServerKeys],
])

const oneOf = (...names: readonly string[]): Schema => ({
  oneOf: names.map(name => ({ required: [name] })),
})

const required = new Map<string, Schema>([
  ['file', oneOf('mcpServers', 'servers')],
  ['server', oneOf('command', 'url', 'urls')],
  ['hash', oneOf('header', 'argument')],
  ['instance', { required: ['url'] }],
])

function fieldSchema({ type, meaning, default: usual, example }: Field): Schema {
  const isWords = typeof usual === 'string' && usual.startsWith('(')
  const schema = typeSchema(type)
  return {
    description: meaning,
    // Beside a reference nothing counts in this draft.
    ...('$ref' in schema ? { allOf: [schema] } : schema),
    ...(usual !== undefined && !isWords && { default: usual }),
    examples: [example],
  }
}

function typeSchema(type: FieldType): Schema {
  switch (type.kind) {
    case 'text':
      return { type: 'string', ...textSchema(type.rule) }
    case 'address': {
      const schemes = addressSchemes[type.use].join('|')
      // A reference may stand for any part of it, the beginning included.
      return { type: 'string', pattern: `^(?:(?:${schemes}):|.*\\$\\{)` }
    }
    case 'number':
      return { type: type.whole ? 'integer' : 'number', minimum: type.min, maximum: type.max }
    case 'boolean':
      return { type: 'boolean' }
    case 'false':
      return { const: false }
    case 'word':
      return { enum: [...type.words, ...(type.also?.keys() ?? [])] }
    case 'list': {
      const { atLeast } = type
      const items = typeSchema(type.of)
      return { type: 'array', items, ...(atLeast !== undefined && { minItems: atLeast }) }
    }
    case 'map':
      return {
        type: 'object',
        propertyNames: keySchemas[type.keys],
        additionalProperties: typeSchema(type.of),
      }
    case 'group':
      return { $ref: `#/definitions/${type.group}` }
    case 'either':
      return { anyOf: type.of.map(typeSchema) }
    case 'member':
      return typeSchema(type.of)
    case 'ignored':
      return {}
  }
}

function textSchema(rule: TextRule | undefined): Schema {
  return rule === 'not-empty' || rule === 'variable' || rule === 'header' ? { minLength: 1 } : {}
}

const keySchemas: Readonly<Record<KeyKind, Schema>> = {
  server: { pattern: '^[A-Za-z0-9_.-]{1,64}$' },
  variable: { minLength: 1 },
  header: { minLength: 1 },
  tool: { minLength: 1 },
}

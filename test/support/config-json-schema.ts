import { serverKeys } from '../../src/router/config/dialects/keys.ts'
import type {
  ConfigJson,
  Field,
  FieldType,
  KeyKind,
  StringRule,
} from '../../src/router/config/field.ts'
import { configGroups } from '../../src/router/config/schema.ts'
import { addressSchemes } from '../../src/router/config/values.ts'
import { keyText } from './dialect-keys.ts'

type Schema = { readonly [name: string]: ConfigJson }

/**
 * Returns the field table as JSON Schema (draft-07), so that editors complete names, show meanings and
 * mark most errors. Cross-field rules are left to `checkConfig`. `test/configuration.test.ts` writes the
 * result to `schema/trunkline.schema.json`.
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
  const properties: Record<string, ConfigJson> = {}
  for (const [name, field] of configGroups.get(named)?.fields ?? []) {
    properties[name] = fieldSchema(field)
  }
  for (const [name, rule] of named === 'server' ? serverKeys : []) {
    // Our own form of a key comes first.
    if (rule.kind !== 'refused' && !(name in properties)) {
      properties[name] = { description: keyText(rule), deprecated: true }
    }
  }
  return { type: 'object', properties, additionalProperties: false, ...required.get(named) }
}

const oneOf = (...names: readonly string[]): Schema => ({
  oneOf: names.map(name => ({ required: [name] })),
})

const required = new Map<string, Schema>([
  ['file', oneOf('mcpServers', 'servers')],
  ['server', oneOf('command', 'url', 'urls')],
  ['hash', oneOf('header', 'argument')],
  ['instance', { required: ['url'] }],
])

function fieldSchema({ type, meaning, default: byDefault, example }: Field): Schema {
  const isDescribed = typeof byDefault === 'string' && byDefault.startsWith('(')
  const schema = typeSchema(type)
  return {
    description: meaning,
    // This draft ignores siblings of $ref.
    ...('$ref' in schema ? { allOf: [schema] } : schema),
    ...(byDefault !== undefined && !isDescribed && { default: byDefault }),
    examples: [example],
  }
}

function typeSchema(type: FieldType): Schema {
  switch (type.kind) {
    case 'string':
      return { type: 'string', ...stringSchema(type.rule) }
    case 'address': {
      const schemes = addressSchemes[type.use].join('|')
      // A reference may replace any part of the address, the scheme included.
      return { type: 'string', pattern: `^(?:(?:${schemes}):|.*\\$\\{)` }
    }
    case 'number':
      return { type: type.integer ? 'integer' : 'number', minimum: type.min, maximum: type.max }
    case 'boolean':
      return { type: 'boolean' }
    case 'false':
      return { const: false }
    case 'enum':
      return { enum: [...type.values, ...(type.aliases?.keys() ?? [])] }
    case 'list': {
      const { minItems } = type
      const items = typeSchema(type.of)
      return { type: 'array', items, ...(minItems !== undefined && { minItems }) }
    }
    case 'map':
      return {
        type: 'object',
        propertyNames: keySchemas[type.keys],
        additionalProperties: typeSchema(type.of),
      }
    case 'group':
      return { $ref: `#/definitions/${type.group}` }
    case 'union':
      return { anyOf: type.of.map(typeSchema) }
    case 'member':
      return typeSchema(type.of)
    case 'ignored':
      return {}
  }
}

function stringSchema(rule: StringRule | undefined): Schema {
  return rule === 'not-empty' || rule === 'variable' || rule === 'header' ? { minLength: 1 } : {}
}

const keySchemas: Readonly<Record<KeyKind, Schema>> = {
  server: { pattern: '^[A-Za-z0-9_.-]{1,64}$' },
  view: { pattern: '^[A-Za-z0-9_.-]{1,64}$' },
  variable: { minLength: 1 },
  header: { minLength: 1 },
  tool: { minLength: 1 },
  claim: { minLength: 1 },
}

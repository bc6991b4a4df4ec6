import { type Limit, MiB } from './limit.ts'

/** Limits of JSON Schemas and of checking values against them. */
export const schemaLimits = {
  schemaWork: {
    default: 20_000_000,
    unit: 'count',
    meaning:
      'Work of checking one value against a plain JSON Schema, in steps of about five nanoseconds, for all keywords together. A value that needs more is rejected.',
  },
  schemaLength: {
    default: MiB,
    unit: 'characters',
    meaning: 'A plain JSON Schema as text. A longer one is rejected.',
  },
  schemaCount: {
    default: 2000,
    unit: 'count',
    meaning: 'Schemas in one plain JSON Schema. One with more is rejected.',
  },
  schemaDepth: {
    default: 64,
    unit: 'count',
    meaning: 'Nesting of schemas in one JSON Schema. A deeper one is rejected.',
  },
  schemaSize: {
    default: 5000,
    unit: 'count',
    meaning:
      'Keywords and names of properties in one plain JSON Schema, annotations not counted. One with more is rejected, because compiling it would take too long.',
  },
  schemaPatternSize: {
    default: 30_000,
    unit: 'count',
    meaning:
      'Size of all different regular expressions in one plain JSON Schema: their characters, the states of their automata, and 700 for each Unicode property. A schema with more is rejected.',
  },
  patternLength: {
    default: 4096,
    unit: 'characters',
    meaning: 'One regular expression in a JSON Schema. A schema with a longer one is rejected.',
  },
  outputValidators: {
    default: 64,
    unit: 'count',
    meaning:
      'Compiled output schemas that a client keeps. The one compiled first is dropped, and compiled again when it is needed.',
  },
} as const satisfies Record<string, Limit>

import { KiB, type Limit, MiB } from './limit.ts'

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
    default: 6000,
    unit: 'count',
    meaning:
      'Size of one plain JSON Schema of this program, as the time to compile it: 2 for each schema and each reference, 3 for each pattern of `patternProperties`, 1 for each keyword, for each name of a property, and for every 8 values of an `enum`; annotations do not count. A larger one is rejected.',
  },
  peerSchemaSize: {
    default: 1500,
    unit: 'count',
    meaning:
      'The same for an output schema of a server, because compiling it blocks the process. Results of a tool with a larger one are not checked against it, and `onError` is called.',
  },
  peerSchemaLength: {
    default: 256 * KiB,
    unit: 'characters',
    meaning: 'An output schema of a server as text. A longer one is treated in the same way.',
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

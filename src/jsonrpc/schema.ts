import { limits } from '../util/limits/limits.ts'

/**
 * The messages of JSON-RPC 2.0 as JSON Schema 2020-12: data to publish or to give to a validator.
 * `decode` reads without them, and takes and refuses the same, under its default options.
 *
 * Two things a schema cannot see, and `decode` does: members that stand twice, and how a number is
 * written, so that an id whose echo could be another one is refused (`1e21`). And a schema counts a
 * character beyond the basic plane once, where the limits count its two halves.
 */
const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema' } as const

const version = { const: '2.0' } as const

// Half a surrogate pair cannot be written in UTF-8, so it would not come back as it went.
const wellFormed = '^\\P{Surrogate}*$'

const id = {
  anyOf: [
    { type: 'string', maxLength: limits.idLength.default, pattern: wellFormed },
    { type: 'integer' },
    { type: 'null' },
  ],
} as const

const method = {
  type: 'string',
  minLength: 1,
  maxLength: limits.methodLength.default,
  pattern: wellFormed,
} as const

const params = { anyOf: [{ type: 'array' }, { type: 'object' }] } as const

// A member whose schema is false must not be there.
const call = { jsonrpc: version, method, params, result: false, error: false } as const

const request = {
  title: 'Request',
  type: 'object',
  required: ['jsonrpc', 'method', 'id'],
  properties: { ...call, id },
} as const

const notification = {
  title: 'Notification',
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: { ...call, id: false },
} as const

const result = {
  title: 'Result',
  type: 'object',
  required: ['jsonrpc', 'result', 'id'],
  properties: { jsonrpc: version, id, result: true, error: false, method: false },
} as const

const error = {
  title: 'Error',
  type: 'object',
  // MCP leaves out the id of a request that could not be read, where JSON-RPC writes null.
  required: ['jsonrpc', 'error'],
  properties: {
    jsonrpc: version,
    id,
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' }, data: true },
    },
    result: false,
    method: false,
  },
} as const

const message = {
  title: 'Message',
  oneOf: [request, notification, result, error],
} as const

/** A call that wants an answer. The id null is allowed, as the specification does, not liked. */
export const requestSchema = { ...dialect, ...request } as const

/** A call that wants no answer: it has no id. */
export const notificationSchema = { ...dialect, ...notification } as const

/** The answer of a request that worked. */
export const resultSchema = { ...dialect, ...result } as const

/** The answer of a request that did not. */
export const errorSchema = { ...dialect, ...error } as const

/** Any one message. */
export const messageSchema = { ...dialect, ...message } as const

/** Several messages together. `decode` judges each for itself, so one bad entry spoils no other. */
export const batchSchema = {
  ...dialect,
  title: 'Batch',
  type: 'array',
  minItems: 1,
  maxItems: limits.batch.default,
  items: message,
} as const

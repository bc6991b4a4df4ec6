import { limits } from '../util/limits/limits.ts'

/**
 * The messages of JSON-RPC 2.0 as JSON Schema 2020-12: data to publish or to give to a validator.
 * `decode` does not use them, but accepts and rejects the same messages under its default options.
 *
 * `decode` sees two things that a schema cannot: duplicate members, and the spelling of a number, so
 * that an id that could not be echoed exactly is rejected (`1e21`). And a schema counts a character
 * beyond the basic plane once, where the limits count both halves of its surrogate pair.
 */
const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema' } as const

const version = { const: '2.0' } as const

// Half a surrogate pair has no UTF-8 encoding, so it could not be echoed.
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

// A member whose schema is false must be absent.
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
  // MCP omits the id if that of the request could not be read, where JSON-RPC sends null.
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

/**
 * A call that expects a response. The id can be null, which the specification allows but discourages.
 */
export const requestSchema = { ...dialect, ...request } as const

/** A call that expects no response: it has no id. */
export const notificationSchema = { ...dialect, ...notification } as const

/** The response to a request that succeeded. */
export const resultSchema = { ...dialect, ...result } as const

/** The response to a request that failed. */
export const errorSchema = { ...dialect, ...error } as const

/** Any single message. */
export const messageSchema = { ...dialect, ...message } as const

/**
 * A batch of messages. `decode` checks each entry on its own, so an invalid entry does not affect the
 * others.
 */
export const batchSchema = {
  ...dialect,
  title: 'Batch',
  type: 'array',
  minItems: 1,
  maxItems: limits.batch.default,
  items: message,
} as const

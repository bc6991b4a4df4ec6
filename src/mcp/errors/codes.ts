import { codes } from '../../jsonrpc/error.ts'
import { type ErrorEntry, type ErrorKind, errorEntryOf } from './table.ts'

/** The two families of protocol revisions: with `initialize` and a session, or with neither. */
export type Era = 'session' | 'stateless'

const { invalidRequest, methodNotFound, invalidParams, internalError } = codes

/** The kinds that have a specified code in every revision that defines them. */
const everywhere = {
  // "Method not found: -32601 (Capability not supported)", completion, error handling.
  capability_not_supported: methodNotFound,
  method_not_supported: methodNotFound,
  request_id_invalid: invalidRequest,
  batch_request_too_large: invalidRequest,
  tool_not_found: invalidParams,
  invalid_tool_arguments: invalidParams,
  prompt_not_found: invalidParams,
  prompt_argument_missing: invalidParams,
  invalid_prompt_arguments: invalidParams,
  invalid_cursor: invalidParams,
  cursor_expired: invalidParams,
  cursor_position_invalid: invalidParams,
  task_not_found: invalidParams,
  task_state_invalid: invalidParams,
  task_already_completed: invalidParams,
  protocol_version_mismatch: invalidParams,
} as const satisfies Numbers

type Numbers = Readonly<Partial<Record<ErrorKind, number>>>

const numbers: Readonly<Record<Era, Numbers>> = {
  session: {
    ...everywhere,
    resource_not_found: -32002,
    unsupported_protocol_version: invalidParams,
    invalid_elicitation_mode: invalidParams,
  },
  stateless: {
    ...everywhere,
    resource_not_found: invalidParams,
    unsupported_protocol_version: -32022,
    request_id_conflict: invalidRequest,
  },
}

/**
 * The kinds that are not the fault of the caller, among those whose own code may not be sent: the same
 * request may succeed when it is sent again.
 */
const notTheCaller: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'resource_locked',
  'template_render_failed',
  'tool_execution_failed',
  'tool_timeout',
  'tool_cancelled',
  'tool_result_too_large',
  'max_concurrent_tools',
  'tool_dependency_failed',
  'tool_schema_invalid',
  'prompt_render_failed',
  'sampling_failed',
  'sampling_timeout',
  'model_not_available',
  'sampling_rate_limited',
  'batch_partial_failure',
  'cursor_encoding_failed',
  'task_failed',
  'task_cancelled',
  'task_timeout',
  'max_concurrent_tasks',
  'task_dependency_failed',
  'progress_update_failed',
  'notification_failed',
  'notification_queue_full',
  'notification_not_delivered',
  'prompt_too_large',
  'prompt_rate_limited',
  'completion_failed',
])

/** Returns the code of a kind in an era: the specified one, or its own if the specification has none. */
export function specifiedCode({ kind, code, category }: ErrorEntry, era: Era): number {
  const specified = numbers[era][kind]
  if (specified !== undefined) return specified
  if (category === 'jsonrpc') return code
  if (!isFutureJsonRpc(code) && !isReserved(code, era)) return code
  return notTheCaller.has(kind) ? internalError : invalidParams
}

/** The codes that the stateless revisions define: header mismatch, missing capability, version. */
const defined: ReadonlySet<number> = new Set([-32020, -32021, -32022])

/** Whether a code must not be sent in an era, for any kind. */
export function isForbidden(code: number, era: Era): boolean {
  return isReserved(code, era) && !defined.has(code)
}

/**
 * Returns the kind that a code alone identifies in an era, according to the specification; undefined if
 * it identifies none.
 */
export function specifiedKind(code: number, era: Era): ErrorKind | undefined {
  // In stateless revisions too: -32002 is the one old code that kept its meaning.
  if (code === -32002) return 'resource_not_found'
  if (era === 'stateless') {
    if (code === -32022) return 'unsupported_protocol_version'
    // A receiver must not assume a meaning for other codes of the implementation-defined range.
    if (code >= -32099 && code <= -32000) return undefined
  }
  return errorEntryOf(code)?.kind
}

/** Whether a kind can have a code on the wire, in any profile and era. */
export function canHaveCode(entry: ErrorEntry, code: number): boolean {
  return (
    code === entry.code ||
    code === specifiedCode(entry, 'session') ||
    code === specifiedCode(entry, 'stateless')
  )
}

/** Whether the specification reserves a code. It withdrew -32002 without freeing it. */
function isReserved(code: number, era: Era): boolean {
  return era === 'stateless' && (code === -32002 || (code >= -32099 && code <= -32020))
}

/** JSON-RPC 2.0, section 5.1: reserved for future use, outside of the implementation-defined range. */
function isFutureJsonRpc(code: number): boolean {
  return code >= -32768 && code < -32099
}

import { codes } from '../../jsonrpc/error.ts'
import { type Entry, entryOf, type Kind } from './table.ts'

/** The two families of protocol revisions: with `initialize` and a session, or with neither. */
export type Era = 'session' | 'stateless'

const { invalidRequest, methodNotFound, invalidParams, internalError } = codes

/** Kinds that the specification gives a number in every revision that knows them. */
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

type Numbers = Readonly<Partial<Record<Kind, number>>>

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
 * Kinds that are no fault of the one who asked, among those whose own number may not be sent: the
 * same request, sent again, may well be answered.
 */
const notTheCaller: ReadonlySet<Kind> = new Set<Kind>([
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

/** The number of a kind as the specification wants it in an era: its own where nothing is said. */
export function specifiedNumber({ kind, code, category }: Entry, era: Era): number {
  const specified = numbers[era][kind]
  if (specified !== undefined) return specified
  if (category === 'jsonrpc') return code
  if (!isFutureJsonRpc(code) && !isReserved(code, era)) return code
  return notTheCaller.has(kind) ? internalError : invalidParams
}

/** Numbers that the stateless revisions define: header mismatch, missing capability, version. */
const defined: ReadonlySet<number> = new Set([-32020, -32021, -32022])

/** Whether no one may send this number in an era, whatever is meant by it. */
export function isForbidden(code: number, era: Era): boolean {
  return isReserved(code, era) && !defined.has(code)
}

/** The kind that a number alone says it is, to a reader who goes by the specification. */
export function specifiedKind(code: number, era: Era): Kind | undefined {
  // To stateless readers, too: it is the one old number that kept its meaning.
  if (code === -32002) return 'resource_not_found'
  if (era === 'stateless') {
    if (code === -32022) return 'unsupported_protocol_version'
    // Of the others in the range of implementations a receiver must not assume any meaning.
    if (code >= -32099 && code <= -32000) return undefined
  }
  return entryOf(code)?.kind
}

/** Whether a kind can have this number on the wire, in one profile and era or another. */
export function canHaveNumber(entry: Entry, code: number): boolean {
  return (
    code === entry.code ||
    code === specifiedNumber(entry, 'session') ||
    code === specifiedNumber(entry, 'stateless')
  )
}

/** Whether the specification keeps a number to itself. It withdrew -32002 without freeing it. */
function isReserved(code: number, era: Era): boolean {
  return era === 'stateless' && (code === -32002 || (code >= -32099 && code <= -32020))
}

/** JSON-RPC 2.0, section 5.1: reserved for future use, beside the numbers of implementations. */
function isFutureJsonRpc(code: number): boolean {
  return code >= -32768 && code < -32099
}

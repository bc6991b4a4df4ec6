/** The categories of errors. */
export const categories = [
  'jsonrpc',
  'core',
  'resource',
  'tool',
  'prompt',
  'content',
  'auth',
  'protocol',
  'pagination',
  'task',
  'progress',
  'completion',
  'elicitation',
] as const

/** The category of an error. */
export type ErrorCategory = (typeof categories)[number]

/** How severe an error is. */
export type ErrorSeverity = 'critical' | 'error' | 'warning'

type Row = readonly [
  code: number,
  category: ErrorCategory,
  severity: ErrorSeverity,
  message: string,
  ...data: string[],
]

// Tuples, so that each kind is one line and the table can be read at a glance.
const rows = {
  parse_error: [-32700, 'jsonrpc', 'critical', 'Parse error'],
  invalid_request: [-32600, 'jsonrpc', 'critical', 'Invalid Request'],
  method_not_found: [-32601, 'jsonrpc', 'error', 'Method not found', 'method'],
  invalid_params: [-32602, 'jsonrpc', 'error', 'Invalid params', 'details'],
  internal_error: [-32603, 'jsonrpc', 'critical', 'Internal error'],
  custom_server_error: [-32000, 'core', 'error', 'Custom server error'],
  resource_not_found: [-32001, 'resource', 'error', 'Resource not found', 'uri'],
  tool_not_found: [-32002, 'tool', 'error', 'Tool not found', 'tool'],
  prompt_not_found: [-32003, 'prompt', 'error', 'Prompt not found', 'prompt'],
  capability_not_supported: [-32004, 'core', 'error', 'Capability not supported', 'capability'],
  not_initialized: [-32005, 'core', 'error', 'Server not initialized'],
  subscription_failed: [-32006, 'core', 'error', 'Subscription failed'],
  validation_failed: [-32007, 'core', 'error', 'Validation failed', 'details'],
  transport_error: [-32008, 'core', 'error', 'Transport error'],
  timeout: [-32009, 'core', 'error', 'Request timeout'],
  rate_limited: [-32010, 'core', 'error', 'Rate limit exceeded'],
  tool_description_too_long: [
    -32011,
    'content',
    'error',
    'Tool description exceeds maximum length',
  ],
  message_too_large: [
    -32012,
    'content',
    'error',
    'Message size exceeds maximum allowed',
    'maxSize',
    'unit',
  ],
  invalid_content_type: [-32013, 'content', 'error', 'Invalid content type', 'contentType'],
  content_too_large: [-32014, 'content', 'error', 'Content too large', 'actualSize', 'maxSize'],
  invalid_encoding: [-32015, 'content', 'error', 'Invalid encoding', 'encoding'],
  binary_data_too_large: [-32016, 'content', 'error', 'Binary data too large'],
  text_too_long: [-32017, 'content', 'error', 'Text too long'],
  invalid_mime_type: [-32018, 'content', 'error', 'Invalid MIME type'],
  unsupported_media_type: [-32019, 'content', 'error', 'Unsupported media type'],
  media_type_not_acceptable: [-32020, 'content', 'error', 'Media type not acceptable'],
  resource_template_not_found: [
    -32021,
    'resource',
    'error',
    'Resource template not found',
    'templateUri',
  ],
  invalid_uri: [-32022, 'resource', 'error', 'Invalid URI', 'uri'],
  uri_syntax_error: [-32023, 'resource', 'error', 'URI syntax error', 'uri', 'reason'],
  uri_too_long: [-32024, 'resource', 'error', 'URI too long'],
  resource_access_denied: [-32025, 'resource', 'error', 'Resource access denied', 'uri'],
  resource_already_exists: [-32026, 'resource', 'error', 'Resource already exists'],
  resource_locked: [-32027, 'resource', 'error', 'Resource locked'],
  resource_version_mismatch: [-32028, 'resource', 'error', 'Resource version mismatch'],
  template_render_failed: [
    -32029,
    'resource',
    'error',
    'Template render failed',
    'templateUri',
    'reason',
  ],
  invalid_uri_template: [-32030, 'resource', 'error', 'Invalid URI template'],
  tool_execution_failed: [-32031, 'tool', 'error', 'Tool execution failed', 'tool', 'reason'],
  tool_timeout: [-32032, 'tool', 'error', 'Tool execution timeout', 'tool', 'timeoutMs'],
  tool_cancelled: [-32033, 'tool', 'error', 'Tool execution cancelled', 'tool'],
  invalid_tool_arguments: [-32034, 'tool', 'error', 'Invalid tool arguments', 'tool', 'details'],
  tool_disabled: [-32035, 'tool', 'error', 'Tool is disabled'],
  tool_result_too_large: [-32036, 'tool', 'error', 'Tool result too large'],
  tool_not_allowed: [-32037, 'tool', 'error', 'Tool not allowed'],
  max_concurrent_tools: [-32038, 'tool', 'error', 'Maximum concurrent tools exceeded'],
  tool_dependency_failed: [-32039, 'tool', 'error', 'Tool dependency failed'],
  tool_schema_invalid: [-32040, 'tool', 'error', 'Tool schema invalid'],
  url_elicitation_required: [-32042, 'prompt', 'error', 'URL elicitation required'],
  prompt_argument_missing: [
    -32043,
    'prompt',
    'error',
    'Prompt argument missing',
    'prompt',
    'argument',
  ],
  prompt_render_failed: [-32044, 'prompt', 'error', 'Prompt render failed', 'prompt', 'reason'],
  invalid_prompt_arguments: [
    -32045,
    'prompt',
    'error',
    'Invalid prompt arguments',
    'prompt',
    'details',
  ],
  sampling_failed: [-32046, 'prompt', 'error', 'Sampling failed', 'reason'],
  sampling_timeout: [-32047, 'prompt', 'error', 'Sampling timeout'],
  invalid_model_preferences: [-32048, 'prompt', 'error', 'Invalid model preferences'],
  model_not_available: [-32049, 'prompt', 'error', 'Model not available'],
  sampling_rate_limited: [-32050, 'prompt', 'error', 'Sampling rate limited'],
  authentication_failed: [-32051, 'auth', 'error', 'Authentication failed', 'reason'],
  authorization_failed: [-32052, 'auth', 'error', 'Authorization failed', 'reason'],
  invalid_credentials: [-32053, 'auth', 'error', 'Invalid credentials'],
  token_expired: [-32054, 'auth', 'error', 'Token expired'],
  insufficient_permissions: [-32055, 'auth', 'error', 'Insufficient permissions'],
  access_denied: [-32056, 'auth', 'error', 'Access denied', 'resource'],
  session_expired: [-32057, 'auth', 'error', 'Session expired'],
  session_not_found: [-32058, 'auth', 'error', 'Session not found'],
  invalid_token: [-32059, 'auth', 'error', 'Invalid token'],
  unauthorized_operation: [-32060, 'auth', 'error', 'Unauthorized operation'],
  unsupported_protocol_version: [
    -32061,
    'protocol',
    'error',
    'Unsupported protocol version',
    'version',
  ],
  protocol_version_mismatch: [
    -32062,
    'protocol',
    'error',
    'Protocol version mismatch',
    'clientVersion',
    'serverVersion',
  ],
  capability_negotiation_failed: [
    -32063,
    'protocol',
    'error',
    'Capability negotiation failed',
    'reason',
  ],
  incompatible_capabilities: [-32064, 'protocol', 'error', 'Incompatible capabilities'],
  method_not_supported: [-32065, 'protocol', 'error', 'Method not supported', 'method'],
  notification_not_supported: [-32066, 'protocol', 'error', 'Notification not supported'],
  request_id_invalid: [-32067, 'protocol', 'error', 'Invalid request ID'],
  request_id_conflict: [-32068, 'protocol', 'error', 'Request ID conflict'],
  batch_request_too_large: [-32069, 'protocol', 'error', 'Batch request too large'],
  batch_partial_failure: [-32070, 'protocol', 'error', 'Batch partial failure'],
  invalid_cursor: [-32071, 'pagination', 'error', 'Invalid cursor', 'cursor'],
  cursor_expired: [-32072, 'pagination', 'error', 'Cursor expired', 'cursor'],
  pagination_not_supported: [-32073, 'pagination', 'error', 'Pagination not supported', 'method'],
  page_size_too_large: [
    -32074,
    'pagination',
    'error',
    'Page size too large',
    'actualSize',
    'maxSize',
  ],
  page_size_invalid: [-32075, 'pagination', 'error', 'Invalid page size'],
  invalid_offset: [-32076, 'pagination', 'error', 'Invalid offset'],
  cursor_requires_parameter: [-32077, 'pagination', 'error', 'Cursor requires parameter'],
  cursor_encoding_failed: [-32078, 'pagination', 'error', 'Cursor encoding failed'],
  pagination_limit_exceeded: [-32079, 'pagination', 'error', 'Pagination limit exceeded'],
  cursor_position_invalid: [-32080, 'pagination', 'error', 'Cursor position invalid'],
  task_not_found: [-32081, 'task', 'warning', 'Task not found', 'taskId'],
  task_already_exists: [-32082, 'task', 'warning', 'Task already exists', 'taskId'],
  task_failed: [-32083, 'task', 'warning', 'Task failed', 'taskId'],
  task_cancelled: [-32084, 'task', 'warning', 'Task cancelled', 'taskId'],
  task_timeout: [-32085, 'task', 'warning', 'Task timeout', 'taskId'],
  task_state_invalid: [-32086, 'task', 'warning', 'Task state invalid', 'taskId'],
  max_concurrent_tasks: [-32087, 'task', 'warning', 'Maximum concurrent tasks exceeded'],
  task_dependency_failed: [-32088, 'task', 'warning', 'Task dependency failed', 'taskId'],
  task_result_not_ready: [-32089, 'task', 'warning', 'Task result not ready', 'taskId'],
  task_already_completed: [-32090, 'task', 'warning', 'Task already completed', 'taskId'],
  invalid_progress_token: [-32091, 'progress', 'warning', 'Invalid progress token'],
  progress_token_expired: [-32092, 'progress', 'warning', 'Progress token expired'],
  progress_update_failed: [-32093, 'progress', 'warning', 'Progress update failed'],
  notification_failed: [
    -32094,
    'progress',
    'warning',
    'Notification failed',
    'notificationType',
    'reason',
  ],
  notification_queue_full: [-32095, 'progress', 'warning', 'Notification queue full', 'queueSize'],
  invalid_notification_type: [-32096, 'progress', 'warning', 'Invalid notification type'],
  notification_not_delivered: [-32097, 'progress', 'warning', 'Notification not delivered'],
  progress_value_invalid: [-32098, 'progress', 'warning', 'Progress value invalid'],
  progress_total_invalid: [-32099, 'progress', 'warning', 'Progress total invalid'],
  prompt_too_large: [-32101, 'prompt', 'error', 'Prompt template exceeds maximum size'],
  dangerous_pattern_detected: [-32102, 'prompt', 'error', 'Dangerous pattern detected in prompt'],
  invalid_variable_name: [-32103, 'prompt', 'error', 'Invalid variable name'],
  prompt_rate_limited: [-32104, 'prompt', 'error', 'Prompt compilation rate limit exceeded'],
  completion_not_found: [-32110, 'completion', 'warning', 'Completion not found', 'completionId'],
  invalid_completion_reference: [
    -32111,
    'completion',
    'warning',
    'Invalid completion reference',
    'reference',
  ],
  invalid_completion_argument: [
    -32112,
    'completion',
    'warning',
    'Invalid completion argument',
    'argument',
    'details',
  ],
  completion_failed: [
    -32113,
    'completion',
    'warning',
    'Completion failed',
    'completionId',
    'reason',
  ],
  elicitation_failed: [1090, 'elicitation', 'warning', 'Elicitation failed', 'reason'],
  elicitation_timeout: [1091, 'elicitation', 'warning', 'Elicitation timeout', 'timeoutMs'],
  elicitation_cancelled: [1092, 'elicitation', 'warning', 'Elicitation cancelled'],
  invalid_elicitation_mode: [1093, 'elicitation', 'warning', 'Invalid elicitation mode', 'mode'],
  elicitation_security_error: [
    1094,
    'elicitation',
    'warning',
    'Elicitation security error',
    'reason',
  ],
  experimental_task_not_found: [1095, 'task', 'warning', 'Task not found', 'taskId'],
  experimental_task_dependency_failed: [
    1096,
    'task',
    'warning',
    'Task dependency failed',
    'taskId',
  ],
  experimental_task_cancelled: [1097, 'task', 'warning', 'Task cancelled', 'taskId'],
  experimental_task_timeout: [1098, 'task', 'warning', 'Task timeout', 'taskId'],
  invalid_task_state: [1099, 'task', 'warning', 'Invalid task state'],
} as const satisfies Record<string, Row>

/** The name of an error, independent of the code that a profile or revision sends. */
export type ErrorKind = keyof typeof rows

/** The members of `data` that belong to a kind. */
export type DataKey<K extends ErrorKind> = (typeof rows)[K] extends readonly [
  number,
  string,
  string,
  string,
  ...infer Keys extends readonly string[],
]
  ? Keys[number]
  : never

/** One kind of error. `code` is its own code, unique in the table. */
export interface ErrorEntry {
  readonly kind: ErrorKind
  readonly code: number
  readonly message: string
  readonly category: ErrorCategory
  readonly severity: ErrorSeverity
  /** The members that its `data` has; a sender may add more. */
  readonly data: readonly string[]
}

/**
 * Every kind of error, by name. A Map, because peers send names too. `docs/errors.md` shows this table,
 * and a test compares the two.
 */
export const errorTable: ReadonlyMap<string, ErrorEntry> = new Map(
  Object.entries(rows).map(([kind, [code, category, severity, message, ...data]]) => [
    kind,
    // The check: Object.entries gives the keys of `rows`, which are the kinds.
    { kind: kind as ErrorKind, code, message, category, severity, data },
  ]),
)

const byCode: ReadonlyMap<number, ErrorEntry> = new Map(
  Array.from(errorTable.values(), entry => [entry.code, entry]),
)

/** Returns the kind with this code of its own; undefined if there is none. */
export function errorEntryOf(code: number): ErrorEntry | undefined {
  return byCode.get(code)
}

/** What the root of a failure says: the HTTP status, or the code of the system error. */
export interface RootCause {
  /** The HTTP status that the request was answered with. */
  readonly status?: number
  /** The value of the header `Retry-After` of that response. */
  readonly retryAfter?: string
  /** The code of a system error, such as `ECONNREFUSED`. */
  readonly code?: string
  /** The system call that failed, such as `connect` or `spawn`. */
  readonly syscall?: string
}

/** Finds the first HTTP status or system error in the chain of causes of an error. */
export function rootCause(error: unknown): RootCause {
  // Chains are short; the bound is for one that refers to itself.
  for (let at = error, depth = 0; at instanceof Error && depth < 16; depth++) {
    const { status, headers, code, syscall } = at as ErrorMembers
    if (typeof status === 'number') return { status, retryAfter: retryAfterOf(headers) }
    if (typeof code === 'string' && /^(E[A-Z]|UND_ERR_)/.test(code)) {
      return { code, syscall: typeof syscall === 'string' ? syscall : undefined }
    }
    at = at instanceof AggregateError && at.cause === undefined ? at.errors[0] : at.cause
  }
  return {}
}

/** Members that errors of Node and of HTTP clients have. None of them can be relied upon. */
interface ErrorMembers {
  readonly status?: unknown
  readonly headers?: unknown
  readonly code?: unknown
  readonly syscall?: unknown
}

/** Names the root of a failure in a word or two, for logs: `HTTP 503`, `ECONNREFUSED`. */
export function causeLabel(error: unknown): string | undefined {
  const { status, code } = rootCause(error)
  return status === undefined ? code : `HTTP ${status}`
}

/**
 * Whether this machine lacked file handles, processes or memory for a process or a connection: that says
 * nothing about the other side.
 */
export function isShortage(error: unknown): boolean {
  const { code = '', syscall = '' } = rootCause(error)
  return shortages.has(code) && /^(spawn|connect|socket|pipe)/.test(syscall)
}

const shortages: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS'])

function retryAfterOf(headers: unknown): string | undefined {
  return headers instanceof Headers ? (headers.get('retry-after') ?? undefined) : undefined
}

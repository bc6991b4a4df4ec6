import { RpcError } from '../../jsonrpc/error.ts'
import type { AuditRecord, CallAudit } from '../../observe/audit/record.ts'
import type { IncomingRequest } from '../../server/request.ts'
import { ownMember } from '../../util/objects.ts'

/** Returns the facts of a request that the audit log records. */
export function auditFacts({
  method,
  id,
  caller,
  exchange,
}: IncomingRequest): Pick<
  CallAudit,
  'event' | 'principal' | 'client' | 'key' | 'method' | 'request' | 'session'
> {
  const { principal } = caller
  return {
    event: 'call',
    principal: principal?.id,
    client: principal?.client,
    key: principal?.key,
    method,
    request: id === null ? undefined : String(id),
    session: exchange.envelope.headers?.['mcp-session-id']?.slice(0, shownSession),
  }
}

/** How much of the id of a session is recorded: enough to tell sessions apart, too little to use one. */
const shownSession = 6

/** Returns what the audit log records of a call that a limit refused. `tool` is its name on the server. */
export function limitedAudit(
  request: IncomingRequest,
  tool: string | undefined,
  server: string,
  error: unknown,
): AuditRecord {
  const { name = request.params.uri } = request.params
  const limit = error instanceof RpcError ? ownMember(error.data, 'limit') : undefined
  return {
    ...auditFacts(request),
    outcome: 'limited',
    name: typeof name === 'string' ? name : '',
    upstream: tool === name ? undefined : tool,
    server,
    reason: typeof limit === 'string' ? `limit ${limit}` : 'cancelled while queued',
  }
}

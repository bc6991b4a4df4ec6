import { lostRequest } from '../../http/server/sessions/moving/lost-reply.ts'
import { decode } from '../../jsonrpc/codec/decode.ts'
import { encode } from '../../jsonrpc/codec/encode.ts'
import type { Entry, RpcFailure } from '../../jsonrpc/message.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { methodRow } from '../../mcp/methods.ts'

/** What can be done about the body of a POST that may have been executed by a node that is gone. */
export interface LostCall {
  /** Whether all of it can be sent again: it only reads, or has no further effect the second time. */
  readonly isRepeatable: boolean
  /** The response: an error "outcome unknown" for each request; undefined if it contains no request. */
  readonly reply: string | undefined
}

/** Examines the body of a POST whose response was lost together with the node that executed it. */
export function lostCall(body: Uint8Array): LostCall {
  const arrival = decode(body)
  const entries: readonly Entry[] = arrival.type === 'batch' ? arrival.entries : [arrival]
  const failures = entries.flatMap((entry): RpcFailure[] =>
    entry.type === 'request' ? [{ type: 'error', id: entry.id, error: toWire(lostRequest()) }] : [],
  )
  const [only] = failures
  const reply = arrival.type === 'batch' ? encode(failures) : only && encode(only)
  return {
    isRepeatable: entries.every(isRepeatable),
    reply: only === undefined ? undefined : reply,
  }
}

function isRepeatable(entry: Entry): boolean {
  switch (entry.type) {
    case 'request':
      return methodRow(entry.method)?.repeatable !== undefined
    case 'notification':
    case 'invalid':
      return true
    default:
      // The request of the server has ended with its node: nothing awaits the response any more.
      return false
  }
}

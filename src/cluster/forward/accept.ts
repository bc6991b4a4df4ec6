import type { HttpReply, HttpRequest } from '../../http/exchange.ts'
import { ByteBuffer } from '../../wire/byte-buffer.ts'
import type { LinkStream, StreamReceiver } from '../link/link-stream.ts'
import { ForwardedRequest } from './forwarded-request.ts'
import { LinkReply } from './link-reply.ts'

/** The sessions of this node, for requests that other nodes forward. */
export interface ForwardTarget {
  /** Whether this process has a session. */
  has(session: string): boolean
  /** Whether this node may act for a session that it has. */
  mayServe(session: string): boolean
  /** Serves an authenticated request. */
  serve(request: HttpRequest, reply: HttpReply): void
}

/** The reason of a node that does not have the session. It has not executed the request. */
export const notOwner = 'not-owner'

/** The reason of a node that may not act for the session at present. It has not executed the request. */
export const suspended = 'suspended'

/**
 * Receives a forwarded request, and serves it once its body is complete. Resets the stream with `notOwner` or
 * `suspended` if this node may not execute it.
 */
export function acceptForwarded(
  stream: LinkStream,
  head: string,
  target: ForwardTarget,
): StreamReceiver {
  const reply = new LinkReply(stream)
  // The node that accepted the request has limited its size.
  const body = new ByteBuffer(Number.MAX_SAFE_INTEGER)
  return {
    data: bytes => body.add(bytes, 0, bytes.length),
    end: () => {
      const request = new ForwardedRequest(head, body.take())
      // Checked in the same turn in which the request is executed.
      if (!target.has(request.session)) stream.reset(notOwner)
      else if (!target.mayServe(request.session)) stream.reset(suspended)
      else target.serve(request, reply)
    },
    failed: () => reply.disconnected(),
  }
}

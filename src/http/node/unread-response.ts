import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../../util/limits/limits.ts'
import type { NodeHost } from './host.ts'

/**
 * Watches whether the client reads what was just written to a response of `node:http`. A response that
 * waits for an earlier one on the same connection is watched when its turn comes; until then it counts
 * towards the limit of unsent bytes, beyond which the connection is destroyed.
 */
export function watchResponse(response: ServerResponse, host: NodeHost): void {
  const { socket, req } = response
  if (socket !== null) {
    if (socket.writableLength > 0) host.unread.written(socket)
    return
  }
  if (response.destroyed || !response.writableEnded) return
  const bytes = response.writableLength
  const waiting = queued.get(req.socket) ?? 0
  // One response alone may be larger than the limit.
  if (waiting > (host.outbound.maxOutboundBytes ?? limits.outboundBytes.default)) {
    req.socket.destroy()
    return
  }
  queued.set(req.socket, waiting + bytes)
  response.once('socket', (own: Socket) => {
    queued.set(own, (queued.get(own) ?? 0) - bytes)
    // Node writes the response after this event.
    queueMicrotask(() => host.unread.written(own))
  })
}

/** The bytes of complete responses that wait for an earlier one on their connection. */
const queued = new WeakMap<Socket, number>()

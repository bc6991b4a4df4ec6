import type { IncomingMessage } from 'node:http'
import type { HeldBytes } from '../../util/sockets/held-bytes.ts'
import { IncomingBytes } from '../../util/sockets/incoming-bytes.ts'
import type { BodyReader } from '../exchange.ts'
import { BodyBlocks } from './body-blocks.ts'
import { chunkCost, spendTurn } from './socket-turns.ts'

/**
 * Reads the body of a `node:http` request. Its bytes count as held until it is complete, and while there
 * is no room for them, the rest waits.
 */
export function readNodeBody(
  request: IncomingMessage,
  maxBytes: number,
  held: HeldBytes,
  done: BodyReader,
): void {
  const { socket } = request
  if (Number(request.headers['content-length']) > maxBytes) {
    done(undefined)
    return
  }
  const blocks = new BodyBlocks()
  const declared = Number(request.headers['content-length'])
  const incoming = new IncomingBytes(held, {
    pause: () => void request.pause(),
    proceed: () => void request.resume(),
    refuse: () => refuse('no-room'),
  })
  const release = (): void => incoming.clear()
  const refuse = (problem: undefined | 'no-room'): void => {
    request.removeListener('data', onData).removeListener('end', onEnd)
    blocks.clear()
    release()
    // The rest of the body is discarded; the connection cannot be used again.
    request.on('data', discard).resume()
    done(problem)
  }
  const discard = (chunk: Buffer): void => spendTurn(socket, Math.max(chunk.length, chunkCost))
  const onData = (chunk: Buffer): void => {
    blocks.add(chunk)
    discard(chunk)
    if (blocks.size > maxBytes) refuse(undefined)
    else incoming.set(blocks.capacity, Number.isNaN(declared) ? maxBytes : declared)
  }
  const finish = (): void => {
    release()
    // The client has gone, or the request was answered before it was complete: it took too long.
    if (!socket.writableEnded && !socket.destroyed) done(blocks.take())
  }
  const onEnd = (): void => {
    if (held.turns.isOpen) {
      held.turns.spend(blocks.size)
      finish()
    } else held.turns.defer(blocks.size, finish)
  }
  request.on('data', onData).on('end', onEnd).on('close', release)
}

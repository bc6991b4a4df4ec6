import { limits } from '../limits/limits.ts'
import { type Deadlines, systemDeadlines, timed } from '../time/deadline.ts'
import { type ServerSocket, sentBytes } from './socket.ts'

/** How a connection ends. */
export interface EndOptions {
  /** The last text to send. */
  readonly text?: string
  /** Milliseconds for which the peer may read nothing of what is still unsent. */
  readonly stallMs?: number
  readonly deadlines?: Deadlines
}

/**
 * Ends a connection that is not used any more: sends what was written and the last text, reads and
 * drops what still arrives, so that the peer gets to read the text, and destroys the socket
 * `closeIdleMs` later if the peer has not closed it by then.
 *
 * The caller has removed its own listeners for input.
 */
export function endSocket(socket: ServerSocket, options: EndOptions = {}): void {
  const { text = '', stallMs = limits.closeIdleMs.default } = options
  const { deadlines = systemDeadlines } = options
  let sent = sentBytes(socket)
  const deadline = timed(() => {
    const before = sent
    sent = sentBytes(socket)
    if (socket.writableFinished || sent <= before) socket.destroy()
    else deadlines.start(deadline, stallMs)
  })
  const linger = (): void => {
    deadlines.stop(deadline)
    if (!socket.destroyed) deadlines.start(deadline, limits.closeIdleMs.default)
  }
  deadlines.start(deadline, stallMs)
  socket.once('finish', linger)
  socket.once('close', () => deadlines.stop(deadline))
  // The peer may have disconnected already, and nothing else listens for that error.
  socket.on('error', () => socket.destroy())
  socket.end(text)
  socket.resume()
}

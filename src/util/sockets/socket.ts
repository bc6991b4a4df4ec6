/** The members of a socket of Node that are used here. */
export interface ServerSocket {
  readonly destroyed: boolean
  /** The bytes that were written and that the system has not accepted yet. */
  readonly writableLength: number
  readonly writableFinished: boolean
  end(text: string): unknown
  destroy(): unknown
  resume(): unknown
  on(event: 'close' | 'drain' | 'error', listener: () => void): unknown
  once(event: 'close' | 'finish', listener: () => void): unknown
  off(event: 'close' | 'drain', listener: () => void): unknown
}

/**
 * Returns a number that grows whenever the system accepts bytes of a socket, also in the middle of one
 * long write, which `writableLength` counts until its end. Node has no public member for that; without
 * its own counters, only completed writes are visible.
 */
export function sentBytes(socket: ServerSocket): number {
  // The check: each member is looked at before it is used.
  const { _handle: handle } = socket as { readonly _handle?: WriteCounters | null }
  const { bytesWritten, writeQueueSize } = handle ?? {}
  if (bytesWritten === undefined || writeQueueSize === undefined) return -socket.writableLength
  return bytesWritten - writeQueueSize
}

interface WriteCounters {
  readonly bytesWritten?: number
  readonly writeQueueSize?: number
}

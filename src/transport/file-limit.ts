import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { ChannelError } from '../jsonrpc/channel.ts'
import { limits } from '../util/limits/limits.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'

/** The limit of open files, and the receiver of warnings. */
export interface FileReserveOptions {
  readonly onError?: (error: Error) => void
  /** How many files the process may have open. By default the limit of the system, if it can be read. */
  readonly maxFiles?: number
  readonly clock?: Clock
}

/**
 * Returns a function that returns whether an accepted connection leaves fewer than `reservedFiles` file
 * handles free, which child processes, files and outgoing connections need. Beyond the limit itself the
 * system would refuse connections silently. Reports to `onError` at most once per
 * `fileWarningMs`.
 */
export function fileReserve(options: FileReserveOptions = {}): (socket: Socket) => boolean {
  const { onError, maxFiles = systemFileLimit(), clock = systemClock } = options
  if (maxFiles === undefined) return () => false
  const highest = maxFiles - Math.min(limits.reservedFiles.default, Math.floor(maxFiles / 4))
  let warnedAt = Number.NEGATIVE_INFINITY
  let refused = 0
  return socket => {
    // The system gives each file the lowest free number, so all lower ones are in use.
    if (descriptorOf(socket) < highest) return false
    refused++
    if (clock.now() - warnedAt >= limits.fileWarningMs.default) {
      warnedAt = clock.now()
      const reason = `only ${maxFiles - highest} of ${maxFiles} file handles are free`
      onError?.(new ChannelError('too-many', `refused ${refused} connections: ${reason}`))
      refused = 0
    }
    return true
  }
}

/** Returns the file descriptor of a socket; -1 where there is none. */
function descriptorOf(socket: Socket): number {
  // The check: each member is looked at before it is used. Node has no public one.
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: number } | null }
  return handle?.fd ?? -1
}

/** Returns how many files this process may have open; undefined if the system does not report it. */
function systemFileLimit(): number | undefined {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found === null ? undefined : Number(found[1])
  } catch {
    return undefined
  }
}

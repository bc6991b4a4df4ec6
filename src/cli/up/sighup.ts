import { isatty } from 'node:tty'
import { deferred } from '../../util/deferred.ts'

/** How hangups are heeded. */
export interface Hangups {
  /** Settles when the terminal is gone that the program was started at. */
  readonly terminalGone: Promise<void>
  /**
   * Heeds them no longer. Where the terminal is gone the process ends here, by the same signal: leaving in
   * the usual way would have Node put a terminal in order that is not there, and crash.
   */
  stop(): void
}

/**
 * Tells the two meanings of SIGHUP apart: somebody wants things to be looked at again, or the terminal
 * was closed, after which nobody could end the program any more.
 */
export function heedHangups(
  onHangup: () => void,
  hasTerminal: () => boolean = () => isatty(0),
  end: () => void = () => void process.kill(process.pid, 'SIGHUP'),
): Hangups {
  const gone = deferred<void>()
  const hadTerminal = hasTerminal()
  let isGone = false
  const heed = (): void => {
    isGone = hadTerminal && !hasTerminal()
    if (isGone) gone.resolve()
    else onHangup()
  }
  process.on('SIGHUP', heed)
  const stop = (): void => {
    process.off('SIGHUP', heed)
    if (isGone) end()
  }
  return { terminalGone: gone.promise, stop }
}

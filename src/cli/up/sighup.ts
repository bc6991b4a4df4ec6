import { isatty } from 'node:tty'
import { deferred } from '../../util/promises.ts'

/** A SIGHUP handler that was installed by `handleSighup`. */
export interface SighupHandler {
  /** Resolves when the terminal of the process was closed. */
  readonly terminalClosed: Promise<void>
  /**
   * Removes the handler. If the terminal was closed, this kills the process with SIGHUP: on a normal exit
   * Node.js would try to reset the closed terminal, and crash.
   */
  stop(): void
}

/**
 * Handles the two meanings of SIGHUP: a request to reload, for which `onReload` is called, or the closing of the
 * terminal, after which the user could not stop the process any more.
 */
export function handleSighup(
  onReload: () => void,
  hasTerminal: () => boolean = () => isatty(0),
  end: () => void = () => void process.kill(process.pid, 'SIGHUP'),
): SighupHandler {
  const closed = deferred<void>()
  const hadTerminal = hasTerminal()
  let isClosed = false
  const onSignal = (): void => {
    isClosed = hadTerminal && !hasTerminal()
    if (isClosed) closed.resolve()
    else onReload()
  }
  process.on('SIGHUP', onSignal)
  const stop = (): void => {
    process.off('SIGHUP', onSignal)
    if (isClosed) end()
  }
  return { terminalClosed: closed.promise, stop }
}

/**
 * Calls `clean`, which must be synchronous, when this process exits: by `process.exit`, by an uncaught
 * exception, or by SIGTERM, SIGINT or SIGHUP without another listener. The exit status does not change.
 * Returns a function that unregisters `clean`.
 *
 * A signal that the program listens to itself is not treated as an exit: the program decides what it
 * means.
 */
export function onProcessExit(clean: () => void): () => void {
  const endBySignal = (signal: NodeJS.Signals): void => {
    if (hasOtherListeners(signal)) return
    clean()
    // Without a listener the signal has its default effect.
    process.off(signal, endBySignal)
    process.kill(process.pid, signal)
  }
  Object.assign(endBySignal, { [stepsAside]: true })
  process.on('exit', clean)
  for (const signal of terminatingSignals) process.on(signal, endBySignal)
  return () => {
    process.off('exit', clean)
    for (const signal of terminatingSignals) process.off(signal, endBySignal)
  }
}

/** Signals that terminate a process without its 'exit' event, unless there is a listener. */
const terminatingSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

// In the global registry, so that two copies of this package in one process recognize each other.
const stepsAside = Symbol.for('trunkline.stepsAside')

/**
 * Whether there is a listener that may want this process to continue. Listeners that only clean up, as
 * we do, must not count: each would wait for the other, and the process could not be terminated.
 */
function hasOtherListeners(signal: NodeJS.Signals): boolean {
  const others = process.listeners(signal).filter(listener => !(stepsAside in listener))
  return (
    others.length >
    cleanUpListeners(globalThis, Symbol.for('signal-exit emitter')) +
      cleanUpListeners(process, '__signal_exit_emitter__')
  )
}

/**
 * Returns the number of listeners of the package signal-exit, which many npm packages depend on and
 * which counts them.
 */
function cleanUpListeners(place: object, key: string | symbol): number {
  const emitter: unknown = Reflect.get(place, key)
  if (typeof emitter !== 'object' || emitter === null || !('count' in emitter)) return 0
  return typeof emitter.count === 'number' ? emitter.count : 0
}

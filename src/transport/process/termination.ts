/**
 * Calls `clean`, which cannot wait for anything, when this process ends: by `process.exit`, by an
 * error nobody caught, or by SIGTERM, SIGINT or SIGHUP where nobody else listens to it. The parent
 * sees the same end as ever. Returns how to leave it.
 *
 * A signal to which the program listens itself is no end: the program decides what it means.
 */
export function atProcessEnd(clean: () => void): () => void {
  const endBySignal = (signal: NodeJS.Signals): void => {
    if (hasOtherListeners(signal)) return
    clean()
    // With nobody left to listen, the signal does what it would have done without us.
    process.off(signal, endBySignal)
    process.kill(process.pid, signal)
  }
  Object.assign(endBySignal, { [stepsAside]: true })
  process.on('exit', clean)
  for (const signal of endings) process.on(signal, endBySignal)
  return () => {
    process.off('exit', clean)
    for (const signal of endings) process.off(signal, endBySignal)
  }
}

/** Those that end a process without its 'exit' event, unless somebody listens. */
const endings = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

// Registered, so that two copies of this package in one process know each other.
const stepsAside = Symbol.for('trunkline.stepsAside')

/**
 * Whether somebody listens who may want this process to go on. Those that only clean up like we do
 * must not count: each would wait for the other to go first, and the process could not be ended.
 */
function hasOtherListeners(signal: NodeJS.Signals): boolean {
  const others = process.listeners(signal).filter(listener => !(stepsAside in listener))
  return (
    others.length >
    cleanersOf(globalThis, Symbol.for('signal-exit emitter')) +
      cleanersOf(process, '__signal_exit_emitter__')
  )
}

/** The listeners of the package signal-exit, which much of npm depends on; it counts them itself. */
function cleanersOf(place: object, key: string | symbol): number {
  const emitter: unknown = Reflect.get(place, key)
  if (typeof emitter !== 'object' || emitter === null || !('count' in emitter)) return 0
  return typeof emitter.count === 'number' ? emitter.count : 0
}

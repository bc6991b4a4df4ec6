import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import { withTimeout } from '../../util/time/sleep.ts'
import type { Backplane } from '../backplane.ts'
import { BackplaneError, closedError } from '../backplane-error.ts'
import { type BackplaneParts, checkedParts } from '../checked-parts.ts'
import { StateListeners } from '../state-listeners.ts'

/** A connection, or several, as a backplane starts and ends it. */
interface Link {
  readonly isUp: boolean
  readonly lastError: unknown
  start(): Promise<void>
  close(): void
}

/** What a backplane with a remote engine is made of. */
export interface RemoteParts extends BackplaneParts {
  /** Those that must be up. The first one decides whether operations can succeed. */
  readonly connections: readonly [Link, ...Link[]]
  /** Loads the client package. Called once, before the connections start. */
  load(): Promise<void>
  /** Returns whether no further attempt to connect can help. */
  isHopeless(error: unknown): boolean
  /** Ends what is not a connection. Called once. */
  close(): void
}

/** What the connections of a backplane report to it. */
export interface RemoteEvents {
  /** To be called when the first connection is up. */
  onUp(): void
  /** To be called when it is lost. */
  onDown(): void
  /** To be called when any other connection is up, or an attempt to connect has failed. */
  onProgress(): void
  /** To be called when the engine was emptied. */
  onEmptied(): void
}

/** Makes a backplane of connections to an engine. */
export function remoteBackplane(
  name: string,
  clock: Clock,
  make: (events: RemoteEvents) => RemoteParts,
): Backplane {
  const listeners = new StateListeners()
  const waiting = new Set<() => void>()
  let isClosed = false
  let wasEmptied = false
  const onProgress = () => {
    for (const check of [...waiting]) check()
  }
  const {
    connections,
    load,
    isHopeless,
    close: closeParts,
    ...parts
  } = make({
    onProgress,
    onUp: () => {
      listeners.report({ isUp: true, wasEmptied })
      wasEmptied = false
      onProgress()
    },
    onDown: () => listeners.report({ isUp: false, wasEmptied: false }),
    onEmptied: () => {
      if (first.isUp) listeners.report({ isUp: true, wasEmptied: true })
      else wasEmptied = true
    },
  })
  const [first] = connections
  const isReady = () => isClosed || connections.every(connection => connection.isUp)
  const errors = () => connections.filter(({ isUp }) => !isUp).map(({ lastError }) => lastError)
  let starting: Promise<void> | undefined
  const start = async () => {
    await load()
    for (const connection of connections) void connection.start()
  }

  const close = async () => {
    if (isClosed) return
    const wasUp = first.isUp
    isClosed = true
    closeParts()
    for (const connection of connections) connection.close()
    if (wasUp) listeners.report({ isUp: false, wasEmptied: false })
    listeners.clear()
    onProgress()
  }

  return {
    name,
    isShared: true,
    get isUp() {
      return first.isUp
    },
    onStateChange: listener => listeners.add(listener),
    open: async () => {
      if (isClosed) throw closedError(name)
      starting ??= start()
      await starting
      await withTimeout(limits.engineOpenMs.default, clock, done => {
        const check = () => {
          if (!isReady() && !errors().some(isHopeless)) return
          waiting.delete(check)
          done()
        }
        waiting.add(check)
        check()
      })
      if (isClosed) throw closedError(name)
      if (isReady()) return
      const last = errors().find(isHopeless) ?? errors().find(error => error !== undefined)
      const why = last instanceof Error ? last.message : 'no answer'
      throw new BackplaneError('down', `cannot connect to ${name}: ${why}`, { cause: last })
    },
    close,
    [Symbol.asyncDispose]: close,
    ...checkedParts(parts),
  }
}

import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Backplane, BackplaneState } from '../backplane.ts'
import { closedError } from '../backplane-error.ts'
import { LocalBus } from '../local/bus.ts'
import type { LocalEngine } from '../local/engine.ts'
import { LocalLog } from '../local/log.ts'
import { LocalMembership } from '../local/membership.ts'
import { LocalRates } from '../local/rates.ts'
import { LocalStore } from '../local/store.ts'
import { memoryTables } from './tables.ts'

/** Options of `memory`. */
export interface MemoryOptions {
  /** The clock that ends records and leases; the system's by default. */
  readonly clock?: Clock
}

const memoryOptionTable: OptionTableOf<MemoryOptions> = { clock: 'object' }

/**
 * Creates a backplane in the memory of this process. Nothing is shared with other processes, and nothing is
 * kept after `close`.
 */
export function memory(options: MemoryOptions = {}): Backplane {
  checkOptions(options, memoryOptionTable)
  const { clock = systemClock } = options
  let isOpen = true
  const listeners = new Set<(state: BackplaneState) => void>()
  const checkUsable = () => {
    if (!isOpen) throw closedError('memory')
  }
  const run = async <T>(operation: () => T) => {
    checkUsable()
    return operation()
  }
  const engine: LocalEngine = {
    tables: memoryTables(),
    // Also greater than the times of an earlier backplane of this process, even if the wall clock went back.
    now: () => performance.timeOrigin + clock.now(),
    run,
    runGrowing: run,
  }
  const bus = new LocalBus(checkUsable)
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    bus.clear()
    for (const listener of listeners) listener({ isUp: false, wasEmptied: false })
    listeners.clear()
  }
  return {
    name: 'memory',
    isShared: false,
    get isUp() {
      return isOpen
    },
    onStateChange: listener => {
      const own = (state: BackplaneState) => listener(state)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    open: async () => checkUsable(),
    close,
    [Symbol.asyncDispose]: close,
    membership: new LocalMembership(engine),
    store: new LocalStore(engine),
    log: new LocalLog(engine),
    bus,
    rates: new LocalRates(engine),
  }
}

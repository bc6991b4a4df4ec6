import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Backplane } from '../backplane.ts'
import { localBackplane } from '../local/backplane.ts'
import { LocalBus } from '../local/bus.ts'
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
  const run = async <T>(operation: () => T) => operation()
  return localBackplane(checkUsable => {
    const bus = new LocalBus(checkUsable)
    const engine = {
      tables: memoryTables(),
      // Also greater than the times of an earlier backplane of this process, even if the wall clock went back.
      now: () => performance.timeOrigin + clock.now(),
      run,
      runGrowing: run,
    }
    return { name: 'memory', isShared: false, engine, bus, close: () => bus.clear() }
  })
}

import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import type { Backplane } from '../backplane.ts'
import { BackplaneError } from '../backplane-error.ts'
import { remoteBackplane } from '../remote/backplane.ts'
import { RemoteConnection, type RemoteErrors } from '../remote/connection.ts'
import { ParentBus } from './bus.ts'
import { type ProcessChannel, stateChannel } from './process-channel.ts'
import { type StateOperations, serializationAdvice } from './protocol.ts'
import { RawLink } from './raw-link.ts'

/** Options of `parentBackplane`. */
export interface ParentBackplaneOptions {
  /** The clock of deadlines; the system's by default. */
  readonly clock?: Clock
}

const parentOptionTable: OptionTableOf<ParentBackplaneOptions> = { clock: 'object' }

/**
 * Creates a backplane whose state the parent process holds, which calls `serveBackplane`: `parentBackplane(process)`.
 * Every operation settles within `engineMs`, even if the parent is stopped. What is stored ends with the parent.
 */
export function parentBackplane(
  parent: ProcessChannel,
  options: ParentBackplaneOptions = {},
): Backplane {
  checkOptions(options, parentOptionTable)
  if (parent.send === undefined) {
    throw new TypeError('parentBackplane: this process was started without a channel to its parent')
  }
  const { clock = systemClock } = options
  const channel = stateChannel(parent)
  const name = 'parent process'
  return remoteBackplane(name, clock, ({ onUp, onDown, onProgress }) => {
    const connection: RemoteConnection<RawLink> = new RemoteConnection({
      name,
      clock,
      errors,
      open: () => new RawLink(channel, (from, text) => bus.receive(from, text)),
      prepare: run => bus.prepare(run),
      onUp: () => {
        bus.onUp()
        onUp()
      },
      onFailedAttempt: onProgress,
      onDown,
    })
    const bus = new ParentBus(name, connection)
    const ask = <Name extends keyof StateOperations>(
      operation: Name,
      ...args: Parameters<StateOperations[Name]>
    ) => connection.run(raw => raw.ask(operation, ...args), lengthOf(args))
    return {
      connections: [connection],
      load: async () => {},
      isHopeless: isWrongSerialization,
      close: () => bus.close(),
      bus,
      membership: {
        heartbeat: (...args) => ask('heartbeat', ...args),
        expel: (...args) => ask('expel', ...args),
        leave: (...args) => ask('leave', ...args),
      },
      store: {
        get: (...args) => ask('get', ...args),
        getAll: (...args) => ask('getAll', ...args),
        claim: (...args) => ask('claim', ...args),
        put: (...args) => ask('put', ...args),
        swap: (...args) => ask('swap', ...args),
        delete: (...args) => ask('deleteRecord', ...args),
        touch: (...args) => ask('touch', ...args),
        add: (...args) => ask('add', ...args),
        remove: (...args) => ask('remove', ...args),
        names: async function* (set) {
          yield* await ask('names', set)
        },
      },
      log: {
        append: (...args) => ask('append', ...args),
        readAfter: (...args) => ask('readAfter', ...args),
        delete: (...args) => ask('deleteLog', ...args),
      },
      rates: {
        take: (...args) => ask('take', ...args),
        leaseSlots: (...args) => ask('leaseSlots', ...args),
      },
    }
  })
}

function isWrongSerialization(error: unknown): boolean {
  return error instanceof BackplaneError && error.message === serializationAdvice
}

const errors: RemoteErrors = {
  commandError: error =>
    error instanceof BackplaneError
      ? error
      : new BackplaneError('unknown', 'the parent process did not reply', {
          cause: error,
        }),
  isReply: error => error instanceof BackplaneError,
  needsNewConnection: () => false,
}

/** Returns about how many characters a message with these values has. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce((sum: number, each) => sum + lengthOf(each), 0)
}

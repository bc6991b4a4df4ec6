import { connect } from 'node:net'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { systemCode } from '../listener.ts'
import { parsePskAddress } from './address.ts'

/**
 * What an address does with a connection. `accepts`: the system there accepts it, which it also does for a process
 * that is stopped. `refuses`: no process listens there. `silent`: neither, in time; nothing is known.
 */
export type AddressState = 'accepts' | 'refuses' | 'silent'

/**
 * Opens a connection to an address, and closes it at once. Never rejects. Throws a TypeError for an address that
 * cannot be read.
 */
export function probeAddress(
  address: string,
  timeoutMs: number,
  clock: Clock = systemClock,
): Promise<AddressState> {
  const target = parsePskAddress(address)
  return new Promise(resolve => {
    const socket = connect(target)
    const settle = (state: AddressState): void => {
      clock.stop(timer)
      socket.destroy()
      resolve(state)
    }
    const timer = clock.start(() => settle('silent'), timeoutMs)
    socket.once('connect', () => settle('accepts'))
    // Never removed, because an error after the end would crash the process.
    socket.on('error', error => {
      settle(refusals.has(systemCode(error) ?? '') ? 'refuses' : 'silent')
    })
  })
}

/** Only these prove that nothing listens: an unreachable host or a missing permission does not. */
const refusals = new Set(['ECONNREFUSED', 'ENOENT'])

import { parseAddress } from '../../../address.ts'
import type { ConsoleSettings } from '../../../router/config/console/fields.ts'
import { isLocalAddress } from '../../../router/config/values.ts'
import { UsageError } from '../../exit.ts'

/** How the console is served: its settings; undefined if it is not served. */
export type ConsolePlan = ConsoleSettings | undefined

/** What decides whether there is a console. */
export interface ConsoleWishes {
  /** Of the configuration. */
  readonly config: boolean | ConsoleSettings | undefined
  /** Of the command line: an address, `''` for the addresses of the router, or `false`. */
  readonly option: string | false | undefined
  /** Where the router is served. */
  readonly listen: readonly string[]
  /** Whether a person at a terminal sees the link. */
  readonly isTerminal: boolean
}

/**
 * Decides whether the console is served, and how: on a terminal it is, unless it is switched off. Throws a UsageError
 * if it was asked for at an address that other machines reach, or that has no HTTP.
 */
export function consolePlan({ config, option, listen, isTerminal }: ConsoleWishes): ConsolePlan {
  if (option === false || (option === undefined && config === false)) return undefined
  const settings: ConsoleSettings = typeof config === 'object' ? config : {}
  const address = option === undefined || option === '' ? settings.address : option
  const isWanted = option !== undefined || config === true || typeof config === 'object'
  if (address !== undefined) {
    if (isServable(address)) return { ...settings, address }
    throw new UsageError(refusal(address))
  }
  if (listen.some(isServable)) return isWanted || isTerminal ? settings : undefined
  if (!isWanted) return undefined
  throw new UsageError(refusal(listen.find(each => /^https?:/.test(each))))
}

/** Whether the console may be served at an address: one of this machine, with HTTP. */
export function isServable(address: string): boolean {
  return address.startsWith('http:') && isLocalAddress(parseAddress(address))
}

function refusal(address: string | undefined): string {
  if (address === undefined) {
    return 'the console needs an HTTP address; add one to "listen", or use --console=http://127.0.0.1:9091'
  }
  const own = 'use --console=http://127.0.0.1:9091'
  return `the console has no login, so that it cannot be served at ${address}; ${own}, and from another machine a tunnel: ssh -L 9091:127.0.0.1:9091 HOST`
}

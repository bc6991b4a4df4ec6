import { parseAddress } from '../../address.ts'
import type { LogLevel } from '../../observe/log/line.ts'
import { isLocalAddress } from '../../router/config/address.ts'
import type { RouterConfig } from '../../router/config/read.ts'
import { defaultListen } from '../../router/config/schema.ts'
import type { RouterOptions, UpstreamOptions } from '../../router/options.ts'
import { UsageError } from '../exit.ts'
import { checkLoops } from './self-reference.ts'

/** What is to be served, and where. */
export interface Plan {
  readonly servers: Readonly<Record<string, UpstreamOptions>>
  readonly router: RouterOptions
  readonly listen: readonly string[]
  /** Whether another port will do where the one asked for is taken: only where nobody has chosen it. */
  readonly isAnyPort: boolean
  readonly metrics: boolean | string
  readonly logLevel: LogLevel
}

/** What the command line says on top of a configuration. */
export interface Wishes {
  readonly listen: readonly string[]
  readonly metrics?: string
  readonly logLevel?: string
  /** A file in which is kept how tools were first seen. */
  readonly pins?: string
  readonly isPublic: boolean
}

/** What a configuration and the command line come to. Throws a UsageError for what must not be served. */
export function planOf(config: RouterConfig, wishes: Wishes): Plan {
  const listen = wishes.listen.length > 0 ? wishes.listen : config.listen
  const metrics = wishes.metrics ?? config.metrics
  checkReach(reached(listen, metrics), config.public || wishes.isPublic)
  checkLoops({ servers: config.servers, listen, file: config.file })
  return {
    servers: config.servers,
    router: config.router,
    listen,
    isAnyPort: false,
    metrics,
    // The check: the manual has these values and no others.
    logLevel: (wishes.logLevel as LogLevel | undefined) ?? config.logLevel,
  }
}

/** What is served where there is no configuration: two servers to try, one of them twice. */
export function demoPlan(program: readonly string[], wishes: Wishes): Plan {
  const [command = process.execPath, ...args] = program
  const listen = wishes.listen.length > 0 ? wishes.listen : [defaultListen]
  const metrics = wishes.metrics ?? true
  checkReach(reached(listen, metrics), wishes.isPublic)
  return {
    servers: {
      text: { command, args: [...args, 'demo', 'text'], instances: 2, balance: 'round-robin' },
      clock: { command, args: [...args, 'demo', 'clock'] },
    },
    router: { name: 'trunkline-demo', instructions: 'A few small tools to try a client with.' },
    listen,
    isAnyPort: wishes.listen.length === 0,
    metrics,
    logLevel: (wishes.logLevel as LogLevel | undefined) ?? 'warn',
  }
}

/** All the addresses that somebody can come to. */
function reached(listen: readonly string[], metrics: boolean | string): readonly string[] {
  return typeof metrics === 'string' ? [...listen, metrics] : listen
}

/**
 * Throws for an address that other machines reach, unless that is wanted: whoever reaches a router uses
 * the credentials that its servers were given.
 */
function checkReach(addresses: readonly string[], isPublic: boolean): void {
  if (isPublic) return
  for (const address of addresses) {
    // Throws for what is no address.
    parseAddress(address)
    if (isLocalAddress(address)) continue
    const why = 'other machines reach it, and nobody would be asked who they are'
    throw new UsageError(
      `${address} is not served: ${why}; say "public": true, or --public, if that is meant`,
    )
  }
}

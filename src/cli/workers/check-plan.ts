import { isByUsers } from '../../router/config/auth/rules.ts'
import type { UpstreamOptions } from '../../router/options.ts'
import { UsageError } from '../exit.ts'

/** What a router serves, as far as it matters to workers. */
export interface WorkerPlan {
  readonly listen: readonly string[]
  /** The settings of the console; undefined for none. */
  readonly console?: object | undefined
  readonly servers: Readonly<Record<string, UpstreamOptions>>
}

/** Throws a UsageError for what several processes cannot serve together. */
export function checkWorkerPlan({ listen, console: itsConsole, servers }: WorkerPlan): void {
  checkWorkerAddresses(listen)
  if (itsConsole !== undefined) {
    throw new UsageError(
      '--workers: the console shows one process; remove "console" from the configuration, or add --no-console',
    )
  }
  const [server] = Object.entries(servers).find(([, { auth }]) => isByUsers(auth)) ?? []
  if (server === undefined) return
  throw new UsageError(
    `--workers: the pages on which users grant access to the server "${server}" belong to one process; leave --workers out`,
  )
}

/** Throws a UsageError for addresses that several processes cannot share. */
export function checkWorkerAddresses(listen: readonly string[]): void {
  if (!listen.includes('stdio:')) return
  throw new UsageError(
    '--workers needs an address such as that of --http 3000: on stdio: there is one connection',
  )
}

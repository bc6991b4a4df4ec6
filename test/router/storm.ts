import type { Client } from '../../src/client/client.ts'
import type { Router } from '../../src/router/index.ts'
import { isAlive } from '../support/processes.ts'
import type { Ledger } from './ledger.ts'
import { pidsOf } from './routed.ts'

export interface StormOptions {
  readonly router: Router
  /** The server whose programs are killed. */
  readonly server: string
  readonly clients: readonly Client[]
  readonly ledger: Ledger
  readonly calls: number
  /** Concurrent calls of each client. */
  readonly atOnce: number
  /** Whether to kill a program before this call. */
  isTimeToKill(call: number): boolean
}

/** Makes calls while killing programs; returns how many were killed. */
export async function storm(options: StormOptions): Promise<number> {
  const { router, server, clients, ledger, calls, atOnce } = options
  let made = 0
  let kills = 0
  const kill = (): void => {
    const pids = pidsOf(router, server)
    const pid = pids[kills % pids.length]
    if (pid === undefined || !isAlive(pid)) return
    process.kill(pid, 'SIGKILL')
    kills++
  }
  const one = async (client: Client): Promise<void> => {
    while (made < calls) {
      const call = ++made
      if (options.isTimeToKill(call)) kill()
      const isRepeatable = call % 4 === 0
      await ledger.call(client, `${server}__${isRepeatable ? 'look' : 'work'}`, isRepeatable)
    }
  }
  await Promise.all(clients.flatMap(client => Array.from({ length: atOnce }, () => one(client))))
  return kills
}

import { onTestFinished } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { ClientOptions } from '../../src/client/options.ts'
import { connect } from '../../src/connect.ts'
import { Router, type RouterOptions } from '../../src/router/index.ts'

/** A router whose servers are ready, for as long as the test lasts. */
export async function routed(
  servers: NonNullable<RouterOptions['servers']>,
  options: RouterOptions = {},
): Promise<Router> {
  const router = new Router({ ...options, servers, onError: () => {} })
  onTestFinished(() => router.close({ drainMs: 0 }))
  await router.ready()
  return router
}

/** A client of a router, for as long as the test lasts. */
export async function caller(router: Router, options: ClientOptions = {}): Promise<Client> {
  const client = await connect(router, options)
  onTestFinished(() => client.close())
  return client
}

/** The process ids of the instances of a server. */
export function pidsOf(router: Router, server: string): readonly number[] {
  return router.server(server)?.instances.flatMap(({ pids }) => pids) ?? []
}

/** The error that a call is refused with. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('the call was answered')
}

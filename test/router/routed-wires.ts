import { fileURLToPath } from 'node:url'
import { Router } from '../../src/router/index.ts'
import type { UpstreamOptions } from '../../src/router/options.ts'
import {
  everythingHere,
  type Make,
  serveHttp,
  serveInMemory,
  type Wire,
} from '../matrix/mcp-wires.ts'
import type { Revision } from '../mcp-interop/driver.ts'

const file = fileURLToPath(new URL('../fixtures/everything-stdio.js', import.meta.url))

/** Either era on either side of a router, in the oldest, the middle and the newest revision of sessions. */
const spoken: readonly Revision[] = ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28']

/** Ways to the server of the matrix that lead through a router, which speaks one revision to it. */
export const routedWires: readonly Wire[] = [
  ...spoken.map(
    (behind): Wire => ({
      name: `a router before ${behind}`,
      revisions: spoken,
      behind,
      isShared: behind !== '2025-06-18',
      serve: serveInMemory(
        routerBefore(behind, 'here', behind === '2025-06-18' ? { connections: 'each' } : {}),
      ),
    }),
  ),
  ...spoken.slice(-2).map(
    (behind): Wire => ({
      name: `HTTP and a router before a program in ${behind}`,
      revisions: spoken.slice(-2),
      isPerRequest: true,
      behind,
      isShared: true,
      serve: serveHttp('/mcp', routerBefore(behind, 'program')),
    }),
  ),
]

/** A router that seems to be the server that it stands before. */
export function routerBefore(
  behind: Revision,
  where: 'here' | 'program',
  further: UpstreamOptions = {},
): Make {
  return async (options = {}) => {
    const its = { ...options, revisions: [behind] }
    const server = where === 'here' ? everythingHere(its) : undefined
    const upstream: UpstreamOptions =
      server !== undefined
        ? { server }
        : { command: process.execPath, args: [file, JSON.stringify(its)] }
    const router = new Router({
      name: 'everything',
      version: '1.0.0',
      title: 'Everything',
      instructions: 'Every feature of the protocol.',
      pageSize: 60,
      tasks: options.tasks,
      servers: { everything: { ...upstream, prefix: false, ...further } },
      onError: () => {},
    })
    await router.ready()
    return {
      handle: router.handle,
      profile: router.profile,
      revisions: router.revisions,
      attach: (channel, envelope) => router.attach(channel, envelope),
      close: async () => {
        await router.close({ drainMs: 0 })
        await server?.close()
      },
    }
  }
}

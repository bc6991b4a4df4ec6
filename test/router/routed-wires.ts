import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import { listen } from '../../src/index.ts'
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
import { pollOptions } from '../support/poll-options.ts'

const file = fileURLToPath(new URL('../fixtures/everything-stdio.js', import.meta.url))

/** Both eras on both sides of a router, in the oldest, a middle and the newest session revision. */
const spoken: readonly Revision[] = ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28']

/** Wires to the server of the matrix through a router, which speaks one revision to it. */
export const routedWires: readonly Wire[] = [
  ...spoken.map(
    (behind): Wire => ({
      name: `a router before ${behind}`,
      revisions: spoken,
      behind,
      isShared: behind !== '2025-06-18',
      serve: serveInMemory(
        routerBefore(behind, 'here', behind === '2025-06-18' ? { connections: 'per-caller' } : {}),
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
  {
    name: 'a router before HTTP with a WebSocket beside it',
    revisions: spoken,
    behind: '2026-07-28',
    isShared: true,
    serve: serveInMemory(routerBefore('2026-07-28', 'http')),
  },
]

/** A router that looks like the server behind it. */
export function routerBefore(
  behind: Revision,
  where: 'here' | 'program' | 'http',
  further: UpstreamOptions = {},
): Make {
  return async (options = {}) => {
    const its = { ...options, revisions: [behind] }
    const server = where === 'program' ? undefined : everythingHere(its)
    const listener =
      where === 'http' && server ? await listen(server, 'http://127.0.0.1:0/mcp') : undefined
    const upstream: UpstreamOptions =
      listener !== undefined
        ? { url: listener.address }
        : server !== undefined
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
    if (where === 'http') await overWebSocket(router, 'everything')
    return {
      handle: router.handle,
      profile: router.profile,
      revisions: router.revisions,
      attach: (channel, envelope) => router.attach(channel, envelope),
      close: async () => {
        await router.close({ drainMs: 0 })
        await listener?.close()
        await server?.close()
      },
    }
  }
}

/** Waits until the calls of a router to one of its servers go over a WebSocket. */
export async function overWebSocket(router: Router, name: string): Promise<void> {
  await vi.waitFor(() => {
    const instances = router.server(name)?.instances ?? []
    expect(instances.map(({ websocket }) => websocket)).toEqual(instances.map(() => true))
  }, pollOptions)
}

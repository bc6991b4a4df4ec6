import { describe, expect, test } from 'vitest'
import { connect, Server } from '../../src/index.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { Router } from '../../src/router/index.ts'

const revisions = ['2025-06-18', '2025-11-25', '2026-07-28'] as const
const cells = revisions.flatMap(front => revisions.map(behind => [front, behind] as const))

function asking(revision: RevisionName): Server {
  const server = new Server({ name: 'asking', version: '1' }, { revisions: [revision] })
  server.tool('form', {}, (_input, ctx) =>
    ctx
      .elicit({ message: '?', schema: { type: 'object', properties: {} } as const })
      .then(() => ''),
  )
  server.tool('sample', {}, (_input, ctx) =>
    ctx.sample({ messages: [], maxTokens: 1 }).then(() => ''),
  )
  server.tool('roots', {}, (_input, ctx) => ctx.roots().then(() => ''))
  return server
}

describe.each(cells)('a caller of %s without capabilities, and a server of %s', (front, behind) => {
  test.each(['form', 'sample', 'roots'])('%s: gets the error of its own revision', async tool => {
    const failureOf = async (endpoint: Server | Router) => {
      await using client = await connect(endpoint, { revisions: [front], onError: () => {} })
      return await client.call(tool).then(
        () => undefined,
        ({ code, data }) => ({ code, data }),
      )
    }
    const direct = await failureOf(asking(front))
    await using router = new Router({
      servers: { x: { server: asking(behind), prefix: false } },
      onError: () => {},
    })
    const routed = await failureOf(router)
    expect(routed).toMatchObject(direct ?? {})
    expect(direct?.code).toBe(front === '2026-07-28' ? -32021 : -32601)
  })
})

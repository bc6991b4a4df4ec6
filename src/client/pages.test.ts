import { describe, expect, it } from 'vitest'
import { proves } from '../../test/requirements.ts'
import {
  type ScriptedServer,
  sessionRevisions,
  sessionServer,
  statelessServer,
  turns,
} from '../../test/support/scripted-server.ts'
import { invalidParams } from '../jsonrpc/error.ts'
import { openClient } from './client.ts'

const quiet = { onError: () => {} }

/** Two pages of tools; a cursor is good for the connection it was given on, and no other. */
function paged(server: ScriptedServer): ScriptedServer {
  return server.on('tools/list', ({ cursor }) => {
    const own = `page 2 of ${server.connections.length}`
    if (cursor === undefined) return { tools: [{ name: 'a' }, { name: 'b' }], nextCursor: own }
    if (cursor !== own) throw invalidParams('unknown cursor')
    return { tools: [{ name: 'c' }] }
  })
}

const cursorsIn = (server: ScriptedServer) => server.sent('tools/list').map(({ cursor }) => cursor)

describe.each(sessionRevisions)('a list that is being read in %s', revision => {
  it('is restarted in a new session, and yields nothing twice', async () => {
    proves('U6g')
    const server = paged(sessionServer(revision))
    await using client = await openClient(server.dial, quiet)
    const names: string[] = []
    for await (const { name } of client.tools()) {
      names.push(name)
      if (name !== 'b') continue
      await server.disconnect()
      await turns()
    }
    expect(names).toEqual(['a', 'b', 'c'])
    expect(cursorsIn(server)).toEqual([undefined, undefined, 'page 2 of 2'])
  })

  it('is restarted even if the connection was lost with a cursor in flight', async () => {
    proves('U6g')
    const server = paged(sessionServer(revision))
    await using client = await openClient(server.dial, quiet)
    const names: string[] = []
    for await (const { name } of client.tools()) {
      names.push(name)
      // Not noticed yet when the next page is requested.
      if (name === 'b' && names.length === 2) void server.disconnect()
    }
    expect(names).toEqual(['a', 'b', 'c'])
    expect(cursorsIn(server).filter(cursor => cursor === 'page 2 of 2')).toHaveLength(1)
    expect(cursorsIn(server).at(-1)).toBe('page 2 of 2')
  })
})

describe('a list whose cursor is refused', () => {
  const fresh = { ttlMs: 60_000, cacheScope: 'private', resultType: 'complete' }

  it('is read from the start, bypassing the cache', async () => {
    proves('U11n')
    let generation = 0
    const server = statelessServer({
      'tools/list': ({ cursor }) => {
        if (cursor === undefined) {
          generation++
          return { ...fresh, tools: [{ name: 'a' }], nextCursor: `${generation}` }
        }
        if (cursor === '1') throw invalidParams('unknown cursor')
        return { ...fresh, tools: [{ name: 'b' }] }
      },
    })
    await using client = await openClient(server.dial, quiet)
    const names: string[] = []
    for await (const { name } of client.tools()) names.push(name)
    expect(names).toEqual(['a', 'b'])
    expect(cursorsIn(server)).toEqual([undefined, '1', undefined, '2'])
  })

  it('again and again fails', async () => {
    const server = statelessServer({
      'tools/list': ({ cursor }) => {
        if (cursor !== undefined) throw invalidParams('unknown cursor')
        return { ...fresh, tools: [], nextCursor: 'x' }
      },
    })
    await using client = await openClient(server.dial, quiet)
    const reading = (async () => {
      for await (const _ of client.tools());
    })()
    await expect(reading).rejects.toMatchObject({ code: -32602 })
    expect(server.sent('tools/list')).toHaveLength(4)
  })
})

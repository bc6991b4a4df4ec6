import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { sessionRevisions, sessionServer } from '../../../test/support/scripted-server.ts'
import { openClient } from '../client.ts'
import { checkedRoots } from './checks.ts'

const bad = [
  'https://x.test/',
  '/home',
  'file:/home',
  'FILE',
  '',
  'file:///home/../etc',
  'file:///home/..',
  'file:///home/%2e%2E/etc',
  'file:///home/.%2e/etc',
  'file:///home%2f..%2fetc',
  'file:///home\\..\\etc',
  'file:///a%00b',
]

describe('roots', () => {
  it.each(bad)('are not sent at %j', async uri => {
    proves('C1c', 'C1h')
    expect(() => checkedRoots([{ uri: 'file:///fine' }, { uri }])).toThrow(TypeError)
    const server = sessionServer('2025-11-25')
    await expect(openClient(server.dial, { roots: [{ uri }] })).rejects.toThrow(TypeError)
    await using client = await openClient(server.dial, { roots: [] })
    expect(() => client.setRoots([{ uri }])).toThrow(TypeError)
  })

  it.each(['file:///', 'file:///a..b/..c/d..', 'file:///C:/x', 'file:///a%20b'])(
    'are valid at %s',
    uri => {
      expect(checkedRoots([{ uri }])).toEqual([{ uri }])
    },
  )

  const failing = [
    ['are odd', () => [{ uri: 'https://x.test/' }]],
    ['cannot be found', () => Promise.reject(new Error('the disk is gone'))],
  ] as const
  it.each(
    sessionRevisions.flatMap(name => failing.map(([how, roots]) => [name, how, roots] as const)),
  )(
    'in %s that %s are an internal error, whose message is not sent',
    async (revision, _, roots) => {
      proves('C1f')
      const onError = vi.fn()
      const server = sessionServer(revision)
      await using _client = await openClient(server.dial, { roots, onError })
      onError.mockClear()
      const error = await server.peer.call('roots/list').catch(e => e)
      expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
      expect(onError).toHaveBeenCalledTimes(1)
    },
  )
})

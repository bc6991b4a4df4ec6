import { describe, expect, test } from 'vitest'
import { factsText, readPeerNode } from './peer-node.ts'
import { PeerNodes } from './peer-nodes.ts'

const facts = factsText({
  name: 'web-1',
  address: 'tcp://127.0.0.1:1',
  path: '/mcp',
  version: '1',
  state: 'up',
  startedAt: 'now',
})
const member = (node: string, isAlive = true) => ({ node, facts, isAlive, silentMs: 0 })
const nodes = (all: readonly { readonly node: string }[]) => all.map(({ node }) => node)

describe('PeerNodes', () => {
  test('lists the others, and who has joined and left', () => {
    const members = new PeerNodes('own', 1000)
    const first = { changed: [member('own'), member('b'), member('a')], isComplete: true }
    expect(nodes(members.apply(first, 0).joined)).toEqual(['b', 'a'])
    expect(nodes(members.all)).toEqual(['a', 'b'])
    const second = { changed: [member('a', false), member('c')], isComplete: false }
    const { joined, left } = members.apply(second, 0)
    expect([nodes(joined), nodes(left)]).toEqual([['c'], ['a']])
    expect(members.get('a')).toBeUndefined()
    expect(members.get('c')?.name).toBe('web-1')
  })

  test('a member that a complete list does not name stays for a lease', () => {
    const members = new PeerNodes('own', 1000)
    members.apply({ changed: [member('a'), member('b')], isComplete: true }, 0)
    const emptied = { changed: [member('b')], isComplete: true }
    const { left, missing } = members.apply(emptied, 100)
    expect([nodes(left), nodes(missing)]).toEqual([[], ['a']])
    expect(nodes(members.apply({ changed: [], isComplete: false }, 1099).left)).toEqual([])
    expect(nodes(members.apply({ changed: [], isComplete: false }, 1100).left)).toEqual(['a'])
  })

  test('a member that was missing and comes back has neither left nor joined', () => {
    const members = new PeerNodes('own', 1000)
    members.apply({ changed: [member('a')], isComplete: true }, 0)
    members.apply({ changed: [], isComplete: true }, 100)
    const { joined, left, missing } = members.apply(
      { changed: [member('a')], isComplete: false },
      200,
    )
    expect([joined, left, missing]).toEqual([[], [], []])
    expect(nodes(members.apply({ changed: [], isComplete: false }, 5000).left)).toEqual([])
  })

  test('a node that was expelled is removed once', () => {
    const members = new PeerNodes('own', 1000)
    members.apply({ changed: [member('a')], isComplete: true }, 0)
    expect(members.remove('a')?.node).toBe('a')
    expect(members.remove('a')).toBeUndefined()
  })

  test('a heartbeat of another program is ignored', () => {
    for (const text of ['', 'null', '[]', '{}', '{"name":1,"address":"x"}', 'no json']) {
      expect(readPeerNode('x', text)).toBeUndefined()
    }
  })
})

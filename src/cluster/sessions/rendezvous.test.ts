import { expect, test } from 'vitest'
import { chosenNode } from './rendezvous.ts'

const nodes = Array.from({ length: 5 }, (_, index) => `node-${index}`)
const items = Array.from({ length: 2000 }, (_, index) => `item-${index}`)

test('the choice does not depend on the order of the nodes', () => {
  for (const item of items) {
    expect(chosenNode(item, nodes)).toBe(chosenNode(item, nodes.toReversed()))
  }
})

test('every node gets about its share', () => {
  for (const node of nodes) {
    const share = items.filter(item => chosenNode(item, nodes) === node).length
    expect(share).toBeGreaterThan(items.length / nodes.length / 1.4)
    expect(share).toBeLessThan((items.length / nodes.length) * 1.4)
  }
})

test('only the items of a node that leaves get another node', () => {
  const rest = nodes.slice(1)
  for (const item of items) {
    const before = chosenNode(item, nodes)
    if (before !== 'node-0') expect(chosenNode(item, rest)).toBe(before)
  }
})

test('no node, no choice', () => {
  expect(chosenNode('item', [])).toBeUndefined()
})

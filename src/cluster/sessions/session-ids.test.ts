import { expect, test } from 'vitest'
import { newNodeId, newSessionId, originNodeOf } from './session-ids.ts'

test('the id of a session names the node that opened it', () => {
  const node = newNodeId()
  expect(originNodeOf(newSessionId(node))).toBe(node)
  expect(originNodeOf(newSessionId(node, () => 'own-id'))).toBe(node)
})

test('ids that no node has made name none', () => {
  for (const id of [
    '',
    'x',
    'f'.repeat(16),
    `${'f'.repeat(16)} `,
    `${'F'.repeat(16)}x`,
    '\0'.repeat(40),
  ]) {
    expect(originNodeOf(id)).toBeUndefined()
  }
  expect(originNodeOf('f'.repeat(300))).toBeUndefined()
})

import { expect, test } from 'vitest'
import { birthNodeOf, newNodeId, newSessionId } from './session-ids.ts'

test('the id of a session names the node that opened it', () => {
  const node = newNodeId()
  expect(birthNodeOf(newSessionId(node))).toBe(node)
  expect(birthNodeOf(newSessionId(node, () => 'own-id'))).toBe(node)
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
    expect(birthNodeOf(id)).toBeUndefined()
  }
  expect(birthNodeOf('f'.repeat(300))).toBeUndefined()
})

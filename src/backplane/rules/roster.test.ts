import { expect, test } from 'vitest'
import { withHeartbeat, withoutMember } from './roster.ts'

test('a node leaves, even if its last heartbeat seems to come from the future', () => {
  const heartbeat = { node: 'a', facts: 'A', leaseMs: 1000, since: 0 }
  const { roster } = withHeartbeat(undefined, heartbeat, { least: 0, most: 50 })
  const moment = { least: 10, most: 60 }
  expect(withoutMember(roster, 'a', 0, moment)).toEqual({ isGone: false })
  expect(withoutMember(roster, 'a', Number.NEGATIVE_INFINITY, moment)).toMatchObject({
    isGone: true,
    roster: { members: [{ node: 'a', isAlive: false }] },
  })
})

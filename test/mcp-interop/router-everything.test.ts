import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { McpDriver } from './driver.ts'
import { connectOurs } from './driver-ours.ts'
import { connectSdk1 } from './driver-sdk1.ts'
import { everything, everythingServer } from './everything.ts'
import { answered, type Outcome, outcomeOf, refused, ruleFor } from './outcome.ts'
import { type Routed, routerBefore } from './routed.ts'
import { answers } from './scenario.ts'

const { command, args } = everythingServer

// Callers of sessions: to the router each stateless call is somebody else's, and what this server asks on
// one pipe while another call is under way, or on its own account, could be for either. Those callers
// are tried before servers that ask only when they are called.
const rows = [
  { name: 'ours', connect: connectOurs, revision: '2025-11-25', front: 'stdio' },
  { name: 'sdk1', connect: connectSdk1, revision: '2025-11-25', front: '/mcp' },
] as const

/** Where it shows that there is a router in between. */
const differing = new Map<string, () => Outcome>([
  ['the server says who it is', () => answered({ capabilities: { resources: {} } })],
  // The reference server has a number of its own for it; the router has that of the revision.
  ['a resource that does not exist is refused', () => refused(-32002)],
  // What it logs because the router has subscribed belongs to no call of anybody's.
  ['a resource that changes is told of, and the subscription logged', () => told],
])

const told = answered({ change: { kind: 'resource' } })
describe.each(rows)(
  'a client of $name in $revision at $front of a router before the reference server',
  ({ connect, revision, front }) => {
    let routed: Routed | undefined
    let driver: McpDriver | undefined

    beforeAll(async () => {
      // It has more tools for those of whom it can ask something: here everybody gets them.
      routed = await routerBefore({ command, args, connections: 'one' }, front)
      driver = await connect(routed.place, { answers, revision })
    })

    afterAll(async () => {
      await driver?.close()
      await routed?.end()
    })

    test.each(everything.map(step => [step.name, step] as const))('%s', async (name, step) => {
      const outcome = await outcomeOf(step, driver ?? expect.unreachable())
      const expected = differing.get(name)?.() ?? ruleFor(step, revision)
      expect(outcome).toMatchObject(expected)
    })
  },
)

test('every difference is one of a step', () => {
  const names = new Set(everything.map(({ name }) => name))
  for (const name of differing.keys()) expect(names).toContain(name)
})

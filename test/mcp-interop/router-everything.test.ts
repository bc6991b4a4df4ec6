import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type McpDriver, type Revision, stateless } from './driver.ts'
import { connectOurs } from './driver-ours.ts'
import { connectSdk1 } from './driver-sdk1.ts'
import { connectSdk2 } from './driver-sdk2.ts'
import { everything, everythingServer } from './everything.ts'
import { answered, type Outcome, outcomeOf, refused, ruleFor } from './outcome.ts'
import { type Routed, routerBefore } from './routed.ts'
import { givenUpLast } from './routed-outcome.ts'
import { answers } from './scenario.ts'

const { command, args } = everythingServer

const rows = [
  { name: 'ours', connect: connectOurs, revision: '2025-11-25', front: 'stdio' },
  { name: 'ours', connect: connectOurs, revision: stateless, front: '/mcp' },
  { name: 'sdk1', connect: connectSdk1, revision: '2025-11-25', front: '/mcp' },
  { name: 'sdk2', connect: connectSdk2, revision: stateless, front: 'stdio' },
] as const

/** Where it shows that there is a router in between, or that the client has no sessions. */
const differing = new Map<string, (revision: Revision) => Outcome | undefined>([
  ['the server says who it is', () => answered({ capabilities: { resources: {} } })],
  // The reference server has a number of its own for it; the router has that of the revision.
  [
    'a resource that does not exist is refused',
    revision => (revision === stateless ? undefined : refused(-32002)),
  ],
  // What it logs because the router has subscribed belongs to no call of anybody's.
  ['a resource that changes is told of, and the subscription logged', () => told],
  ['a ping is answered', revision => (revision === stateless ? { ...never } : undefined)],
  [
    'a visit is demanded by an error, and asked for the second time',
    revision => (revision === stateless ? answered(['answered', ['User completed']]) : undefined),
  ],
])

const told = answered({ change: { kind: 'resource' } })
/** The clients do not send what the revision does not have, each with a code of its own. */
const never = { refused: { by: 'client', code: expect.any(String) } } as const

describe.each(rows)(
  'a client of $name in $revision at $front of a router before the reference server',
  ({ connect, revision, front }) => {
    let routed: Routed | undefined
    let driver: McpDriver | undefined

    beforeAll(async () => {
      // It has more tools for those of whom it can ask something: here everybody gets them.
      routed = await routerBefore({ command, args, connections: 'shared' }, front)
      driver = await connect(routed.place, { answers, revision })
      // A while after it is connected to it asks for the roots on its own account, unless it knows them by
      // then: so that no step is asked what it does not expect.
      await driver.callTool('get-roots-list')
    })

    afterAll(async () => {
      await driver?.close()
      await routed?.end()
    })

    const steps = revision === stateless ? givenUpLast(everything) : everything
    test.each(steps.map(step => [step.name, step] as const))('%s', async (name, step) => {
      const outcome = await outcomeOf(step, driver ?? expect.unreachable())
      const expected = differing.get(name)?.(revision) ?? ruleFor(step, revision)
      expect(outcome).toMatchObject(expected)
    })
  },
)

test('every difference is one of a step', () => {
  const names = new Set(everything.map(({ name }) => name))
  for (const name of differing.keys()) expect(names).toContain(name)
})

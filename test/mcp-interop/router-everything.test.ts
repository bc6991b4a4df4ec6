import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type McpDriver, type Revision, stateless } from './driver.ts'
import { connectOurs } from './driver-ours.ts'
import { connectSdk1 } from './driver-sdk1.ts'
import { connectSdk2 } from './driver-sdk2.ts'
import { everything, everythingServer } from './everything.ts'
import { answered, type Outcome, outcomeOf, refused, ruleFor } from './outcome.ts'
import { type Routed, routerBefore } from './routed.ts'
import { cancellingLast } from './routed-outcome.ts'
import { answers } from './scenario.ts'

const { command, args } = everythingServer

const rows = [
  { name: 'ours', connect: connectOurs, revision: '2025-11-25', front: 'stdio' },
  { name: 'ours', connect: connectOurs, revision: stateless, front: '/mcp' },
  { name: 'sdk1', connect: connectSdk1, revision: '2025-11-25', front: '/mcp' },
  { name: 'sdk2', connect: connectSdk2, revision: stateless, front: 'stdio' },
] as const

/** Deviations that a router in between, or a stateless client, causes. */
const differing = new Map<string, (revision: Revision) => Outcome | undefined>([
  ['the server identifies itself', () => answered({ capabilities: { resources: {} } })],
  // The reference server has an error code of its own for it; the router uses that of the revision.
  [
    'a resource that does not exist is refused',
    revision => (revision === stateless ? undefined : refused(-32002)),
  ],
  // What the server logs about the subscription of the router belongs to no call.
  ['a changed resource is reported, and the subscription logged', () => reported],
  ['a ping is answered', revision => (revision === stateless ? { ...never } : undefined)],
  [
    'a URL elicitation is required by an error, then requested by the second call',
    revision => (revision === stateless ? answered(['answered', ['User completed']]) : undefined),
  ],
])

const reported = answered({ change: { kind: 'resource' } })
/** The clients do not send what the revision does not have, each with its own error code. */
const never = { refused: { by: 'client', code: expect.any(String) } } as const

describe.each(rows)(
  'a client of $name in $revision at $front of a router before the reference server',
  ({ connect, revision, front }) => {
    let routed: Routed | undefined
    let driver: McpDriver | undefined

    beforeAll(async () => {
      // The server has more tools for clients with capabilities: on a shared connection every caller gets them.
      routed = await routerBefore({ command, args, connections: 'shared' }, front)
      driver = await connect(routed.place, { answers, revision })
      // Shortly after connecting the server requests the roots outside of any call, unless it knows them by
      // then; this call ensures that no step receives an unexpected server request.
      await driver.callTool('get-roots-list')
    })

    afterAll(async () => {
      await driver?.close()
      await routed?.end()
    })

    const steps = revision === stateless ? cancellingLast(everything) : everything
    test.each(steps.map(step => [step.name, step] as const))('%s', async (name, step) => {
      const outcome = await outcomeOf(step, driver ?? expect.unreachable())
      const expected = differing.get(name)?.(revision) ?? ruleFor(step, revision)
      expect(outcome).toMatchObject(expected)
    })
  },
)

test('every deviation names a step', () => {
  const names = new Set(everything.map(({ name }) => name))
  for (const name of differing.keys()) expect(names).toContain(name)
})

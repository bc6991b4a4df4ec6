import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Capabilities, type Cell, capabilitiesOf, expectedOf } from './capabilities.ts'
import { connectCell, fixtureServer } from './cells.ts'
import { type McpDriver, Refused } from './driver.ts'
import { connectProbingSdk2 } from './driver-sdk2.ts'
import { outcomeOf, ruleFor } from './outcome.ts'
import { answers, scenario } from './scenario.ts'

// The fixtures and the drivers against each other, without our code: a failure here is a fault of
// theirs, and makes their results about other code unreliable.

const cells: readonly Cell[] = [
  { driver: 'sdk1', server: 'sdk1', revision: '2025-11-25' },
  { driver: 'sdk1', server: 'sdk2', revision: '2025-11-25' },
  { driver: 'sdk2', server: 'sdk1', revision: '2025-11-25' },
  { driver: 'sdk2', server: 'sdk2', revision: '2025-11-25' },
  { driver: 'sdk1', server: 'sdk1', revision: '2024-11-05' },
  { driver: 'sdk1', server: 'sdk2', revision: '2025-03-26' },
  { driver: 'sdk2', server: 'sdk1', revision: '2025-06-18' },
  { driver: 'sdk2', server: 'sdk2', revision: '2026-07-28' },
]

describe.each(cells)('a client of $driver and a server of $server in $revision', cell => {
  let driver: McpDriver

  beforeAll(async () => {
    driver = await connectCell(cell)
  })

  afterAll(() => driver?.close())

  test('they speak the requested revision', () => {
    expect(driver.server.revision).toBe(cell.revision)
  })

  test.each(scenario.map(step => [step.name, step] as const))('%s', async (_name, step) => {
    expect(await outcomeOf(step, driver)).toMatchObject(expectedOf(step, cell))
  })
})

test('a server without the stateless revision refuses a client that accepts no other', async () => {
  const connecting = connectCell({ driver: 'sdk2', server: 'sdk1', revision: '2026-07-28' })
  await expect(connecting).rejects.toSatisfy(
    error => error instanceof Refused && error.code === 'ERA_NEGOTIATION_FAILED',
  )
})

test.each([
  { server: 'sdk1', revision: '2025-11-25' },
  { server: 'sdk2', revision: '2026-07-28' },
] as const)('a client that probes a server of $server finds $revision', async row => {
  const driver = await connectProbingSdk2(fixtureServer(row.server), { answers, ...row })
  try {
    expect(driver.server.revision).toBe(row.revision)
    expect(await driver.callTool('echo', { text: 'hello' })).toMatchObject({ isError: false })
  } finally {
    await driver.close()
  }
})

describe('the table of exceptions', () => {
  const all = Object.entries(capabilitiesOf).flatMap(([role, table]) =>
    Object.entries(table).map(([name, it]): [string, Capabilities] => [`${role} ${name}`, it]),
  )

  test.each(all)(
    'the exceptions of %s name steps, and differ from the rule',
    (_name, capabilities) => {
      for (const {
        step: name,
        revisions = capabilities.revisions,
        outcome,
      } of capabilities.exceptions) {
        const step = scenario.find(it => it.name === name)
        expect(step?.name).toBe(name)
        if (step === undefined) continue
        for (const revision of revisions) expect(outcome).not.toEqual(ruleFor(step, revision))
      }
    },
  )

  test('no two steps have the same name', () => {
    expect(new Set(scenario.map(({ name }) => name)).size).toBe(scenario.length)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/index.ts'
import { type Cell, expectedOf } from './capabilities.ts'
import { connectCell, fixtureServer } from './cells.ts'
import type { McpDriver } from './driver.ts'
import { connectProbingSdk2 } from './driver-sdk2.ts'
import { outcomeOf } from './outcome.ts'
import { answers, scenario } from './scenario.ts'
import { Conversation } from './schema-check.ts'

const cells: readonly Cell[] = [
  // Clients of other packages and our server.
  { driver: 'sdk1', server: 'ours', revision: '2024-11-05' },
  { driver: 'sdk1', server: 'ours', revision: '2025-03-26' },
  { driver: 'sdk2', server: 'ours', revision: '2025-06-18' },
  { driver: 'sdk1', server: 'ours', revision: '2025-11-25' },
  { driver: 'sdk2', server: 'ours', revision: '2025-11-25' },
  { driver: 'sdk2', server: 'ours', revision: '2026-07-28' },
  // Our client and servers of other packages.
  { driver: 'ours', server: 'sdk1', revision: '2025-11-25' },
  { driver: 'ours', server: 'sdk2', revision: '2025-11-25' },
  { driver: 'ours', server: 'sdk2', revision: '2026-07-28' },
  { driver: 'ours', server: 'tmcp', revision: '2025-06-18' },
  { driver: 'ours', server: 'tmcp', revision: '2026-07-28' },
  // Our client and our server.
  { driver: 'ours', server: 'ours', revision: '2024-11-05' },
  { driver: 'ours', server: 'ours', revision: '2025-03-26' },
  { driver: 'ours', server: 'ours', revision: '2025-06-18' },
  { driver: 'ours', server: 'ours', revision: '2025-11-25' },
  { driver: 'ours', server: 'ours', revision: '2026-07-28' },
]

describe.each(cells)('a client of $driver and a server of $server in $revision', cell => {
  const conversation = new Conversation(cell.revision, { strict: true })
  const problems = new Set<string>()
  let driver: McpDriver
  let messages = 0
  let isMisuse = false

  beforeAll(async () => {
    driver = await connectCell(cell, (from, message) => {
      messages++
      const found = conversation.sent(from, message)
      // Other tests check the packages; our side must use only members of the revision.
      if (cell[from === 'client' ? 'driver' : 'server'] !== 'ours') return
      if (from === 'client' && isMisuse) return
      for (const problem of found) problems.add(problem)
    })
  })

  afterAll(() => driver?.close())

  test('they speak the requested revision', () => {
    expect(driver.server.revision).toBe(cell.revision)
  })

  test.each(scenario.map(step => [step.name, step] as const))('%s', async (_name, step) => {
    isMisuse = step.misuse === true
    expect(await outcomeOf(step, driver)).toMatchObject(expectedOf(step, cell))
  })

  test('every message of ours matches the schema, member by member', () => {
    expect(messages).toBeGreaterThan(2 * scenario.length)
    expect([...problems]).toEqual([])
  })
})

test.each([
  { server: 'sdk1', revision: '2025-11-25' },
  { server: 'sdk2', revision: '2026-07-28' },
  { server: 'tmcp', revision: '2026-07-28' },
  { server: 'ours', revision: '2026-07-28' },
] as const)(
  'our client, without a requested revision, speaks $revision with $server',
  async row => {
    await using client = await connect(fixtureServer(row.server))
    expect(client.server.revision.name).toBe(row.revision)
    expect((await client.call('echo', { text: 'hello' })).text).toBe('hello')
  },
)

test('a client of sdk2 in probing mode speaks the newest revision with our server', async () => {
  const driver = await connectProbingSdk2(fixtureServer('ours'), {
    answers,
    revision: '2026-07-28',
  })
  try {
    expect(driver.server.revision).toBe('2026-07-28')
    expect(await driver.callTool('echo', { text: 'hello' })).toMatchObject({ isError: false })
  } finally {
    await driver.close()
  }
})

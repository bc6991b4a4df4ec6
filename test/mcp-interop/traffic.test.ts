import { describe, expect, test } from 'vitest'
import { type Cell, expectedOf } from './capabilities.ts'
import { connectCell } from './cells.ts'
import { scenario } from './scenario.ts'
import { recordTraffic } from './traffic.ts'

const cells: readonly Cell[] = [
  { driver: 'sdk1', server: 'sdk1', revision: '2025-11-25' },
  { driver: 'sdk2', server: 'sdk2', revision: '2025-11-25' },
  { driver: 'sdk2', server: 'sdk2', revision: '2026-07-28' },
]

describe('the messages of the packages', () => {
  test.each(cells)('of $driver and $server are valid in $revision', async cell => {
    const { outcomes, problems, messages } = await recordTraffic(
      cell.revision,
      scenario,
      onMessage => connectCell(cell, onMessage),
    )
    expect(problems).toEqual([])
    for (const step of scenario) {
      expect(outcomes.get(step.name), step.name).toMatchObject(expectedOf(step, cell))
    }
    expect(messages).toBeGreaterThan(2 * scenario.length)
  })

  test('are found invalid if a package supports only one revision', async () => {
    const cell: Cell = { driver: 'sdk1', server: 'sdk1', revision: '2024-11-05' }
    const { problems } = await recordTraffic(
      cell.revision,
      scenario,
      onMessage => connectCell(cell, onMessage),
      { strict: true },
    )
    expect(problems).toEqual(
      expect.arrayContaining([
        'server: elicitation/create: elicitation/create is not in 2024-11-05',
        'server: answer to tools/call: result.content[0].type is not in 2024-11-05',
        'server: answer to tools/call: result.structuredContent is not known',
        'server: answer to tools/list: result.tools[1].outputSchema is not known',
      ]),
    )
  })
})

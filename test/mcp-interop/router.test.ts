import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectCell } from './cells.ts'
import type { McpDriver } from './driver.ts'
import { outcomeOf } from './outcome.ts'
import { type Routed, type RoutedCell, routedPlace } from './routed.ts'
import { cancellingLast, expectedThrough, isAnonymous } from './routed-outcome.ts'
import { scenario } from './scenario.ts'

// Clients of other packages, our router, and upstream servers of ours and of other packages: the same
// steps and outcomes as without a router.

const cells: readonly RoutedCell[] = [
  // Both eras in front of both, over pipes and over HTTP, with our server upstream.
  row('sdk1', '2025-11-25', 'stdio', 'ours', '2026-07-28', 'stdio'),
  row('sdk1', '2024-11-05', '/sse', 'ours', '2025-11-25', 'http'),
  row('sdk2', '2025-11-25', '/mcp', 'ours', '2026-07-28', 'stdio'),
  row('sdk2', '2025-06-18', 'stdio', 'ours', '2025-11-25', 'stdio', 'shared'),
  row('sdk2', '2026-07-28', '/mcp', 'ours', '2025-11-25', 'http'),
  row('sdk2', '2026-07-28', 'stdio', 'ours', '2026-07-28', 'http'),
  // Upstream servers of other packages.
  row('ours', '2025-11-25', 'stdio', 'sdk1', '2025-11-25', 'stdio', 'shared'),
  row('ours', '2026-07-28', '/mcp', 'sdk1', '2025-11-25', 'stdio', 'shared'),
  row('sdk1', '2025-11-25', '/mcp', 'sdk2', '2026-07-28', 'stdio'),
  row('sdk2', '2026-07-28', '/mcp', 'sdk2', '2026-07-28', 'stdio'),
  row('sdk2', '2026-07-28', 'stdio', 'sdk1', '2025-11-25', 'stdio', 'shared'),
]

function row(
  driver: RoutedCell['driver'],
  revision: RoutedCell['revision'],
  front: RoutedCell['front'],
  server: RoutedCell['server'],
  behind: RoutedCell['behind'],
  back: RoutedCell['back'],
  connections?: RoutedCell['connections'],
): RoutedCell {
  return { driver, revision, front, server, behind, back, connections }
}

describe.each(cells)(
  'a client of $driver in $revision at $front of a router before $server in $behind over $back',
  cell => {
    let routed: Routed | undefined
    let driver: McpDriver | undefined

    beforeAll(async () => {
      routed = await routedPlace(cell)
      driver = await connectCell(cell, undefined, routed.place)
    })

    afterAll(async () => {
      await driver?.close()
      await routed?.end()
    })

    const steps = isAnonymous(cell) ? cancellingLast(scenario) : scenario
    test.each(steps.map(step => [step.name, step] as const))('%s', async (_name, step) => {
      const outcome = await outcomeOf(step, driver ?? expect.unreachable())
      expect(outcome).toMatchObject(expectedThrough(step, cell))
    })
  },
)

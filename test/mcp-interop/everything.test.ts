import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { McpDriver } from './driver.ts'
import { connectOurs } from './driver-ours.ts'
import { connectSdk1 } from './driver-sdk1.ts'
import { connectSdk2 } from './driver-sdk2.ts'
import { everything, everythingServer } from './everything.ts'
import { outcomeOf, ruleFor } from './outcome.ts'
import { answers } from './scenario.ts'

const revision = '2025-11-25'

describe.each([
  { name: 'ours', connect: connectOurs },
  { name: 'sdk1', connect: connectSdk1 },
  { name: 'sdk2', connect: connectSdk2 },
])('a client of $name and the reference server', ({ connect }) => {
  let driver: McpDriver

  beforeAll(async () => {
    driver = await connect(everythingServer, { answers, revision })
  })

  afterAll(() => driver?.close())

  test.each(everything.map(step => [step.name, step] as const))('%s', async (_name, step) => {
    expect(await outcomeOf(step, driver)).toMatchObject(ruleFor(step, revision))
  })
})

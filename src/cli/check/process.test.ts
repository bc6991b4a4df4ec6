import { expect, test, vi } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import type { CheckContext } from './context.ts'
import { shutdown } from './process.ts'

/** The finding about a process that exits so long after its stdin was closed; undefined for never. */
async function after(exitMs: number | undefined) {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const endInput = async (waitMs: number) => {
    now += Math.min(exitMs ?? waitMs, waitMs)
    return exitMs === undefined ? undefined : { code: 0, signal: null }
  }
  const context = {
    where: { kind: 'child' },
    children: [{ incoming: { closedReason: undefined }, endInput }],
  } as unknown as CheckContext
  const [finding] = await shutdown(context)
  clock.mockRestore()
  return finding
}

test('a process that exits is fine, with advice if it takes its time', async () => {
  expect(await after(20)).toEqual({
    status: 'ok',
    message: 'the process exits 20 ms after its stdin was closed',
  })
  expect(await after(limits.childEndMs.default + 1)).toMatchObject({
    status: 'ok',
    advice: expect.stringContaining('Exit at once'),
  })
})

test('a process that stays gets a warning', async () => {
  expect(await after(undefined)).toMatchObject({ status: 'warn' })
})

import { expect, test } from 'vitest'
import { until } from '../support/processes.ts'
import { chaos } from './chaos.ts'

test('every call has one outcome while programs are killed, connections cut and files reloaded', {
  timeout: 300_000,
}, async () => {
  const { killed, cut, calm } = await chaos({
    kills: 9,
    cuts: 9,
    reloads: 4,
    atOnce: 2,
    pace: async made => {
      const due = made() + 200
      await until(() => made() >= due)
    },
  })
  expect([killed.wrong, cut.wrong, calm.wrong]).toEqual([[], [], []])
  expect(killed.refused / killed.calls).toBeLessThanOrEqual(0.02)
  expect(cut.refused / cut.calls).toBeLessThanOrEqual(0.02)
  expect(calm).toMatchObject({ ok: calm.calls, refused: 0, unknown: 0 })
})

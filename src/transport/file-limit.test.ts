import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { fileReserve } from './file-limit.ts'

const socket = (fd?: number) => ({ _handle: fd === undefined ? null : { fd } }) as unknown as Socket

test('connections are refused when few file handles are free, with one warning a minute', () => {
  const clock = fakeClock()
  const errors: string[] = []
  const onError = (error: Error) => void errors.push(error.message)
  const isRefused = fileReserve({ maxFiles: 1024, clock, onError })
  expect([isRefused(socket(20)), isRefused(socket(991)), isRefused(socket())]).not.toContain(true)
  expect(isRefused(socket(992))).toBe(true)
  for (let i = 0; i < 9; i++) isRefused(socket(1000))
  expect(errors).toEqual(['refused 1 connections: only 32 of 1024 file handles are free'])
  clock.advance(60_000)
  expect(isRefused(socket(1000))).toBe(true)
  expect(errors).toHaveLength(2)
  expect(errors[1]).toMatch(/^refused 10 connections/)
})

test('a small limit keeps a quarter of it free', () => {
  const isRefused = fileReserve({ maxFiles: 64 })
  expect([isRefused(socket(47)), isRefused(socket(48))]).toEqual([false, true])
})

import { expect, onTestFinished, test } from 'vitest'
import { heedHangups } from './sighup.ts'

function heeding(hasTerminal: () => boolean) {
  let heard = 0
  let isEnded = false
  const hangups = heedHangups(
    () => heard++,
    hasTerminal,
    () => (isEnded = true),
  )
  onTestFinished(() => hangups.stop())
  return { hangups, heard: () => heard, isEnded: () => isEnded }
}

test('a hangup is a wish to look again, with or without a terminal', () => {
  for (const hasTerminal of [true, false]) {
    const { hangups, heard, isEnded } = heeding(() => hasTerminal)
    process.emit('SIGHUP')
    expect(heard()).toBe(1)
    hangups.stop()
    expect(isEnded()).toBe(false)
  }
})

test('with the terminal the program ends', async () => {
  let isThere = true
  const { hangups, heard, isEnded } = heeding(() => isThere)
  isThere = false
  process.emit('SIGHUP')
  await hangups.terminalGone
  expect(heard()).toBe(0)
  hangups.stop()
  expect(isEnded()).toBe(true)
})

import { expect, onTestFinished, test } from 'vitest'
import { handleSighup } from './sighup.ts'

function handling(hasTerminal: () => boolean) {
  let reloads = 0
  let isEnded = false
  const sighup = handleSighup(
    () => reloads++,
    hasTerminal,
    () => (isEnded = true),
  )
  onTestFinished(() => sighup.stop())
  return { sighup, reloads: () => reloads, isEnded: () => isEnded }
}

test('SIGHUP requests a reload, with or without a terminal', () => {
  for (const hasTerminal of [true, false]) {
    const { sighup, reloads, isEnded } = handling(() => hasTerminal)
    process.emit('SIGHUP')
    expect(reloads()).toBe(1)
    sighup.stop()
    expect(isEnded()).toBe(false)
  }
})

test('the process ends when its terminal is closed', async () => {
  let isThere = true
  const { sighup, reloads, isEnded } = handling(() => isThere)
  isThere = false
  process.emit('SIGHUP')
  await sighup.terminalClosed
  expect(reloads()).toBe(0)
  sighup.stop()
  expect(isEnded()).toBe(true)
})

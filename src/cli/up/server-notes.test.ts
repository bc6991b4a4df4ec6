import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { events } from '../../observe/events.ts'
import type { ServerStatus } from '../../router/status.ts'
import { Terminal } from '../terminal.ts'
import { ServerNotes } from './server-notes.ts'

afterEach(() => void vi.useRealTimers())

function started(...shown: ServerStatus[]) {
  vi.useFakeTimers()
  const lines: string[] = []
  const stderr = { write: (text: string) => lines.push(text.trimEnd()) }
  const notes = new ServerNotes(new Terminal({ stdout: { write: () => {} }, stderr }))
  notes.start(shown)
  onTestFinished(() => notes.stop())
  return lines
}

const who = { server: 'nokey', instance: '0' }
const fail = (reason: string) => events.instanceExited.publish({ ...who, reason })

test('prints a failure once, and counts it while the reason stays the same', () => {
  const lines = started()
  for (let times = 1; times <= 60; times++) {
    events.instanceStarted.publish(who)
    fail('API_KEY is not set')
  }
  expect(lines).toEqual([
    'nokey: API_KEY is not set; restarting',
    'nokey: failed again (5×): API_KEY is not set',
    'nokey: failed again (10×): API_KEY is not set',
    'nokey: failed again (50×): API_KEY is not set',
  ])
  fail('another reason')
  expect(lines.at(-1)).toBe('nokey: another reason; restarting')
})

test('says nothing new about what the summary has shown', () => {
  const instance = { key: '0', state: 'waiting', reason: 'API_KEY is not set' }
  // The check: the notes read no other member.
  const lines = started({ name: 'nokey', instances: [instance] } as unknown as ServerStatus)
  fail('API_KEY is not set')
  expect(lines).toEqual([])
})

test('prints that a server is up again once it stays up, and that it is quarantined', () => {
  const lines = started()
  fail('broken')
  events.instanceStarted.publish(who)
  vi.advanceTimersToNextTimer()
  expect(lines.at(-1)).toBe('nokey: up again')
  events.instanceQuarantined.publish({ ...who, reason: 'it cannot be started: no such program' })
  expect(lines.at(-1)).toMatch(
    /^nokey: quarantined: it cannot be started: no such program; fix the reason.* to retry$/,
  )
})

test('prints nothing about a server that the router stops', () => {
  const lines = started()
  events.instanceExited.publish(who)
  expect(lines).toEqual([])
})

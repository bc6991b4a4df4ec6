import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { parentBackplane } from '../../src/backplane/parent/parent.ts'
import { backplaneContract } from '../../src/testing/backplane/contract.ts'
import { slowClock } from '../support/slow-clock.ts'

const clock = slowClock(10)
const program = fileURLToPath(new URL('state-process.js', import.meta.url))
const holders: ChildProcess[] = []

function holder(): ChildProcess {
  const child = fork(program, { serialization: 'advanced' })
  // Every backplane listens on the channel.
  child.setMaxListeners(0)
  holders.push(child)
  return child
}

afterAll(async () => {
  for (const child of holders) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
})

const main = holder()
const others = new Map<string, ChildProcess>()

async function connected(to: ChildProcess) {
  const backplane = parentBackplane(to, { clock })
  await backplane.open()
  return backplane
}

const cases = await backplaneContract({
  connect: async cluster => {
    if (cluster === undefined) return connected(main)
    const other = others.get(cluster) ?? holder()
    others.set(cluster, other)
    return connected(other)
  },
  ...(process.platform !== 'win32' && {
    stall: async () => {
      main.kill('SIGSTOP')
      return async () => void main.kill('SIGCONT')
    },
  }),
})

describe('the contract of a backplane, in another process', () => {
  test.each(cases)('$name', ({ run }) => run())
})

test('backplanes of one process on one channel have subscriptions of their own', async () => {
  await using one = await connected(main)
  await using two = await connected(main)
  const received: string[] = []
  const into = (name: string) => ({
    message: (text: string) => void received.push(`${name} ${text}`),
    gap: () => {},
  })
  await one.bus.subscribe('own', into('one'))
  const end = await two.bus.subscribe('own', into('two'))
  end()
  one.bus.publish('own', 'a')
  // Messages of one sender arrive in order, so those of the first channel have arrived with this one.
  await one.bus.subscribe('last', into('last'))
  one.bus.publish('last', 'b')
  await expect.poll(() => received).toContain('last b')
  expect(received).toEqual(['one a', 'last b'])
})

test('while the process that holds the state does not run, messages are lost and reported', async () => {
  await using one = await connected(main)
  await using two = await connected(main)
  const received: string[] = []
  await two.bus.subscribe('news', {
    message: text => void received.push(text),
    gap: () => void received.push('gap'),
  })
  main.kill('SIGSTOP')
  try {
    while (one.isUp) await one.store.get('any').catch(() => {})
    one.bus.publish('news', 'lost')
  } finally {
    main.kill('SIGCONT')
  }
  await expect.poll(() => received).toContain('gap')
  await one.open()
  one.bus.publish('news', 'later')
  await expect.poll(() => received.at(-1)).toBe('later')
  expect(received).not.toContain('lost')
})

test('an operation on a channel that has ended fails in time', async () => {
  const child = holder()
  const backplane = await connected(child)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await expect(backplane.store.get('any')).rejects.toMatchObject({ name: 'BackplaneError' })
  await backplane.close()
})

test('a channel that changes messages is refused with the reason', async () => {
  const child = fork(program)
  holders.push(child)
  const backplane = parentBackplane(child, { clock })
  await expect(backplane.open()).rejects.toThrow("serialization: 'advanced'")
  await backplane.close()
})

test('a process without a parent that can be asked is refused', () => {
  expect(() => parentBackplane({ on() {}, off() {} })).toThrow('started without a channel')
})

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { redisServer } from '../../scripts/redis-server.js'
import { Fleet, type FleetNode } from './fleet.ts'
import { type LoadCounts, openSessions, runLoad } from './load.ts'

const count = (name: string, byDefault: number): number =>
  Number(process.env[`SOAK_${name}`] ?? byDefault)

const kills = count('KILLS', 100)
const engineFaults = count('CUTS', 30)
const everyMs = count('EVERY', 1000)

const engine = await redisServer(['--appendonly', 'yes'])
afterAll(() => engine.close())

/** Runs a load on three nodes while `disturb` injects faults. */
async function under(disturb: (fleet: Fleet) => Promise<void>): Promise<LoadCounts> {
  await using fleet = new Fleet(`redis://127.0.0.1:${engine.port}`)
  await fleet.start(3)
  const ending = new AbortController()
  const sessions = await openSessions(fleet, 500)
  const load = runLoad(fleet, { sessions, workers: 32, signal: ending.signal })
  try {
    await disturb(fleet)
  } finally {
    ending.abort()
  }
  const counts = await load
  console.log(JSON.stringify(counts))
  return counts
}

function anyOf(fleet: Fleet): FleetNode {
  const node = fleet.nodes[Math.floor(Math.random() * fleet.nodes.length)]
  if (node === undefined) throw new Error('no node is left')
  return node
}

function check(counts: LoadCounts): void {
  expect(counts).toMatchObject({ lost: 0, doubled: 0, wrong: 0, ended: 0 })
  expect(counts.ok).toBeGreaterThan(counts.unknown)
}

test(`${kills} nodes are killed`, async () => {
  check(
    await under(async fleet => {
      for (let fault = 0; fault < kills; fault++) {
        await sleep(everyMs)
        await fleet.kill(anyOf(fleet))
        await fleet.start(1)
      }
    }),
  )
})

test(`the engine is killed ${engineFaults} times, and keeps its data`, async () => {
  check(
    await under(async () => {
      for (let fault = 0; fault < engineFaults; fault++) {
        await engine.kill()
        await sleep(everyMs)
        await engine.restart()
        await sleep(everyMs)
      }
    }),
  )
})

test(`the engine is emptied ${engineFaults} times`, async () => {
  check(
    await under(async () => {
      for (let fault = 0; fault < engineFaults; fault++) {
        await engine.kill()
        await sleep(everyMs)
        await engine.restart({ isEmpty: true })
        await sleep(everyMs)
      }
    }),
  )
})

test(`the engine and nodes are stopped ${engineFaults} times, by turns`, async () => {
  check(
    await under(async fleet => {
      for (let fault = 0; fault < engineFaults; fault++) {
        engine.pause()
        await sleep(everyMs * 2)
        engine.resume()
        const { child } = anyOf(fleet)
        child.kill('SIGSTOP')
        await sleep(everyMs * (fault % 2 === 0 ? 2 : 5))
        child.kill('SIGCONT')
        await sleep(everyMs)
      }
    }),
  )
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { descendants, isAlive, until } from '../support/processes.ts'
import { type Account, chaos } from './chaos.ts'
import { ledgerHere, worker } from './ledger.ts'
import { caller, pidsOf, routed } from './routed.ts'
import { storm } from './storm.ts'
import { up } from './up.ts'

/** An amount that `npm run soak` passes through the environment. */
function amountOf(name: string, usual: number): number {
  return Number(process.env[`SOAK_${name}`] ?? usual)
}

const calls = amountOf('CALLS', 100_000)
const kills = amountOf('KILLS', 300)
const cuts = amountOf('CUTS', 300)
const reloads = amountOf('RELOADS', 30)
const everyMs = amountOf('EVERY', 1000)
const cycles = amountOf('CYCLES', 1000)
const ups = amountOf('UPS', 100)

test(`${kills} kills, ${cuts} cut connections and ${reloads} reloads`, async () => {
  const report = await chaos({
    kills,
    cuts,
    reloads,
    atOnce: 8,
    pace: () => new Promise(resolve => setTimeout(resolve, everyMs)),
  })
  const { killed, cut, calm, longestGapMs } = report
  console.table({ killed: rowOf(killed), cut: rowOf(cut), calm: rowOf(calm) })
  console.log(`longest time without an answer of the killed server: ${longestGapMs} ms`)
  expect([killed.wrong, cut.wrong, calm.wrong]).toEqual([[], [], []])
  expect(killed.refused / killed.calls).toBeLessThanOrEqual(0.02)
  expect(cut.refused / cut.calls).toBeLessThanOrEqual(0.02)
  expect(calm).toMatchObject({ ok: calm.calls, refused: 0, unknown: 0 })
})

function rowOf({ calls: made, ok, refused, unknown, wrong }: Account): object {
  const share = `${((100 * refused) / made).toFixed(2)} %`
  return { calls: made, ok, refused, share, unknown, wrong: wrong.length }
}

test(`a storm of ${calls} calls, with a program killed every two seconds`, async () => {
  const ledger = ledgerHere('w')
  const calm = ledgerHere('c')
  const restart = { maxRestarts: 1000, minMs: 1, maxMs: 100 }
  const router = await routed({
    work: worker({ ledger: ledger.file }, { instances: 2, restart, trustAnnotations: true }),
    calm: worker({ ledger: calm.file }),
  })
  const others = await caller(router)
  let isOver = false
  const beside = (async () => {
    while (!isOver) await calm.call(others, 'calm__work')
  })()
  let next = performance.now() + 2000
  const began = performance.now()
  const kills = await storm({
    router,
    server: 'work',
    clients: [await caller(router, { era: 'session' }), await caller(router, { era: 'stateless' })],
    ledger,
    calls,
    atOnce: 8,
    isTimeToKill: () => {
      if (performance.now() < next) return false
      next = performance.now() + 2000
      return true
    },
  })
  const seconds = (performance.now() - began) / 1000
  isOver = true
  await beside
  expect(ledger.reconcile()).toEqual([])
  expect(calm.reconcile()).toEqual([])
  expect(calm.count('ok')).toBe(calm.asked.length)
  await until(() => pidsOf(router, 'work').length === 2)
  const figures = {
    seconds: Math.round(seconds),
    perSecond: Math.round(calls / seconds),
    kills,
    ok: ledger.count('ok'),
    unknown: ledger.count('unknown'),
    refused: ledger.count('not-done'),
    beside: calm.asked.length,
  }
  console.log(`storm: ${JSON.stringify(figures)}`)
})

test(`${cycles} routers that are created and closed`, async () => {
  const program = fileURLToPath(new URL('cycles.js', import.meta.url))
  const child = spawn(process.execPath, [program, String(cycles)])
  const exit = once(child, 'exit')
  const stderr = text(child.stderr)
  const { pids, resources } = JSON.parse(await text(child.stdout))
  expect([...(await exit), await stderr]).toEqual([0, null, ''])
  expect(resources).toEqual([])
  expect(pids).toHaveLength(2 * cycles)
  expect(pids.filter(isAlive)).toEqual([])
  console.log(`cycles: ${JSON.stringify({ cycles, programs: pids.length, left: 0 })}`)
})

test(`${ups} runs of trunkline up`, async () => {
  for (let turn = 0; turn < ups; turn++) {
    const running = await up({ servers: { work: worker({ grandchild: true }) } })
    const started = descendants(running.pid)
    const signal = (['SIGTERM', 'SIGINT', 'SIGKILL'] as const)[turn % 3] ?? 'SIGTERM'
    running.child.kill(signal)
    expect(await running.exit).toBe(signal === 'SIGKILL' ? signal : 0)
    // A killed router cannot stop what its programs left behind; the programs themselves exit.
    const own = signal === 'SIGKILL' ? started.slice(0, 1) : started
    await until(() => !own.some(isAlive))
    for (const pid of started) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  }
  console.log(`ups: ${JSON.stringify({ ups, left: 0 })}`)
})

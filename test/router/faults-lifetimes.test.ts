import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/connect.ts'
import { Router, type UpstreamOptions } from '../../src/router/index.ts'
import { start } from '../cli/bin.ts'
import { descendants, isAlive, until } from '../support/processes.ts'
import { type Ledger, ledgerHere, worker } from './ledger.ts'
import { caller, failureOf, pidsOf, routed } from './routed.ts'
import { up } from './up.ts'

async function alive(address: string): Promise<Client> {
  const client = await connect(address)
  onTestFinished(() => client.close())
  return client
}

describe('routers that are created and closed', () => {
  test('leave no program, no socket and no timer behind', async () => {
    const program = fileURLToPath(new URL('cycles.js', import.meta.url))
    const child = spawn(process.execPath, [program, '50'])
    onTestFinished(() => void child.kill('SIGKILL'))
    const exit = once(child, 'exit')
    const stderr = text(child.stderr)
    const { pids, resources } = JSON.parse(await text(child.stdout))
    // The process exits without help, because nothing is left to wait for.
    expect([...(await exit), await stderr]).toEqual([0, null, ''])
    expect(resources).toEqual([])
    expect(pids).toHaveLength(100)
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('leave nothing behind when they are closed before their servers are ready', async () => {
    const before = descendants(process.pid)
    const routers = Array.from(
      { length: 5 },
      () => new Router({ servers: { a: worker(), b: worker({ role: 'never-initializes' }) } }),
    )
    await Promise.all(routers.map(router => router.close({ drainMs: 0 })))
    expect(descendants(process.pid).filter(pid => !before.includes(pid))).toEqual([])
  })
})

describe('a router whose servers are changed under load', () => {
  test('keeps unchanged servers, and answers every call', async () => {
    const ledger = ledgerHere()
    const stays = worker({ ledger: ledger.file })
    const router = await routed({ stays })
    const client = await caller(router)
    const before = pidsOf(router, 'stays')
    const load = calling(ledger, client, 'stays__work')
    for (let turn = 0; turn < 100; turn++) {
      const others: Record<string, UpstreamOptions> = turn % 10 === 0 ? { guest: worker() } : {}
      const limits = { perSecond: 900_000 + turn }
      await router.update({ ...others, stays: { ...stays, limits } })
    }
    const bad = { stays, 'no name': worker() }
    await expect(router.update(bad)).rejects.toThrow(TypeError)
    const worse = { stays, other: {} as UpstreamOptions }
    await expect(router.update(worse)).rejects.toThrow(TypeError)
    await load.stop()
    expect(pidsOf(router, 'stays')).toEqual(before)
    expect(router.servers().map(({ name }) => name)).toEqual(['stays'])
    expect(ledger.reconcile()).toEqual([])
    expect(ledger.count('ok')).toBe(ledger.asked.length)
  })

  test('lets a replaced server finish the calls it has started', async () => {
    const ledger = ledgerHere()
    const version = (number: number): UpstreamOptions =>
      worker({ ledger: ledger.file }, { env: { VERSION: `${number}` } })
    const router = await routed({ work: version(0) })
    const client = await caller(router)
    const load = calling(ledger, client, 'work__work')
    const pids = new Set<number>()
    for (let turn = 1; turn <= 10; turn++) {
      for (const pid of pidsOf(router, 'work')) pids.add(pid)
      await router.update({ work: version(turn) }, { drainMs: 10_000 })
    }
    await load.stop()
    expect(pids.size).toBe(10)
    expect([...pids].filter(isAlive)).toEqual([])
    expect(ledger.reconcile()).toEqual([])
    expect(ledger.count('ok')).toBe(ledger.asked.length)
  })
})

/** Calls without a pause until it is stopped. */
function calling(ledger: Ledger, client: Client, tool: string) {
  let isOver = false
  const one = async (): Promise<void> => {
    while (!isOver) await ledger.call(client, tool)
  }
  const all = Promise.all([one(), one(), one(), one()])
  return {
    stop: async () => {
      isOver = true
      await all
    },
  }
}

describe('trunkline up', () => {
  test('reloads a file that is rewritten again and again without losing a call', {
    timeout: 300_000,
  }, async () => {
    const ledger = ledgerHere()
    const stays = worker({ ledger: ledger.file })
    const listen = 'http://127.0.0.1:0/mcp'
    const running = await up({ listen, servers: { stays } })
    const client = await alive(running.address)
    const before = descendants(running.pid)
    const load = calling(ledger, client, 'stays__work')
    const rereads = (): number =>
      running.said.filter(line => /"configuration reloaded".*"ok":true/.test(line)).length
    const write = async (content: string, isWhole: boolean): Promise<void> => {
      // Some editors write into the file, others replace it.
      if (!isWhole) return writeFile(running.file, content)
      await writeFile(`${running.file}.new`, content)
      await rename(`${running.file}.new`, running.file)
    }
    for (let turn = 0; turn < 100; turn++) {
      const limits = { perSecond: 900_000 + turn }
      const config = JSON.stringify({ listen, servers: { stays: { ...stays, limits } } })
      const isBroken = turn % 10 === 3
      await write(isBroken ? config.slice(0, -3) : config, turn % 2 === 0)
      await ledger.call(client, 'stays__work')
      if (turn % 10 === 0) await until(() => rereads() > turn / 10)
    }
    await write('{"servers": {"stays": ', false)
    await until(() => running.said.some(line => /"configuration reloaded".*"ok":false/.test(line)))
    const servers = { stays: { ...stays, limits: { perSecond: 1000 } }, guest: worker() }
    await write(JSON.stringify({ listen, servers }), true)
    await until(() => running.said.some(line => line.includes('"added":["guest"]')))
    await load.stop()
    expect(descendants(running.pid)).toEqual(expect.arrayContaining([...before]))
    expect(descendants(running.pid)).toHaveLength(before.length + 1)
    expect(ledger.reconcile()).toEqual([])
    expect(ledger.count('ok')).toBe(ledger.asked.length)
    running.child.kill('SIGTERM')
    expect(await running.exit).toBe(0)
  })

  test('answers the calls in flight when it receives a stop signal, and leaves no process', async () => {
    const ledger = ledgerHere()
    const running = await up({
      servers: { work: worker({ ledger: ledger.file, grandchild: true }) },
    })
    const started = descendants(running.pid)
    expect(started).toHaveLength(2)
    const clients = [
      await connect(running.address, { era: 'session' }),
      await connect(running.address, { era: 'stateless' }),
    ]
    const held = clients.map(client => ledger.call(client, 'work__hold'))
    await until(() => ledger.executed().length === 2)
    running.child.kill('SIGINT')
    await until(await isRefusing(running.address))
    process.kill(running.pids.get('work')?.[0] as number, 'SIGUSR2')
    expect((await Promise.all(held)).map(({ outcome }) => outcome)).toEqual(['ok', 'ok'])
    expect(await running.exit).toBe(0)
    await until(() => !started.some(isAlive))
    expect(ledger.reconcile()).toEqual([])
    for (const client of clients) await client.close()
  })

  test('leaves no process when it is killed: its programs see the end of their input', async () => {
    const running = await up({ servers: { one: worker(), two: worker({}, { instances: 2 }) } })
    const started = descendants(running.pid)
    expect(started).toHaveLength(3)
    running.child.kill('SIGKILL')
    expect(await running.exit).toBe('SIGKILL')
    await until(() => !started.some(isAlive))
  })

  test('starts and stops without leaving anything behind', async () => {
    for (let turn = 0; turn < 4; turn++) {
      const running = await up({ servers: { work: worker({ grandchild: true }) } })
      const started = descendants(running.pid)
      running.child.kill(turn % 2 === 0 ? 'SIGTERM' : 'SIGINT')
      expect(await running.exit).toBe(0)
      expect(started.filter(isAlive)).toEqual([])
    }
  })

  test('stops on a signal while a server is still starting', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-up-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'trunkline.json')
    const never = worker({ role: 'never-initializes' }, { connectTimeoutMs: 600_000 })
    const listen = 'http://127.0.0.1:0/mcp'
    await writeFile(file, JSON.stringify({ listen, servers: { never } }))
    const child = start(['up', file])
    onTestFinished(() => void child.kill('SIGKILL'))
    const exit = once(child, 'exit')
    const own = (): readonly number[] => descendants(child.pid as number)
    await until(() => own().length === 1)
    const started = own()
    child.kill('SIGINT')
    expect(await exit).toEqual([0, null])
    expect(started.filter(isAlive)).toEqual([])
  })

  test('refuses to start with an invalid file, and starts no program', async () => {
    const failing = up({ servers: { work: worker() }, logs: 5 })
    expect(await failureOf(failing)).toMatchObject({
      message: expect.stringContaining('logs'),
      cause: 2,
    })
  })
})

/** Returns a function that says whether new connections are refused. */
async function isRefusing(address: string): Promise<() => boolean> {
  const { port, hostname } = new URL(address)
  let isRefused = false
  const look = (): void => {
    const socket = connectSocket({ port: Number(port), host: hostname })
    socket.once('connect', () => {
      socket.destroy()
      setImmediate(look)
    })
    socket.once('error', () => {
      isRefused = true
    })
  }
  look()
  return () => isRefused
}

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { redisProgram, redisServer } from '../../scripts/redis-server.js'
import { endSession, listenTo, openSession, type Reply, sendAlone } from '../cluster/raw-session.ts'
import { fixture, trunkline } from './bin.ts'
import { emptyFolder, started } from './started.ts'

const file = fixture('../fixtures/worker-server.js')
const posix = process.platform !== 'win32'

/** Starts workers that serve the fixture, in a temporary folder of their own. */
async function workers(count: number, more: readonly string[] = []) {
  const cwd = emptyFolder()
  const tmp = join(cwd, 'tmp')
  mkdirSync(tmp)
  const args = ['serve', file, '--workers', String(count), '--http', '0', ...more]
  const { child, report, errors } = await started(args, { cwd, env: { TMPDIR: tmp } })
  return { child, errors, cwd, tmp, address: String(report.addresses[0]) }
}

/** Calls a tool on a connection of its own, and returns the text of the result. */
async function call(address: string, session: string, name: string, args: object = {}) {
  const params = { name, arguments: args }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { status, message: reply } = await sendAlone(address, session, message)
  expect([status, reply.error]).toEqual([200, undefined])
  return textOf(reply)
}

function textOf({ result }: Reply): string {
  return result?.content?.[0]?.text ?? ''
}

/** Calls `pid` in sessions of their own until several processes have answered. */
async function allPids(address: string, count: number): Promise<readonly number[]> {
  const pids = new Set<number>()
  while (pids.size < count) {
    pids.add(Number(await call(address, await openAlone(address), 'pid')))
  }
  return [...pids]
}

/** Opens a session on a connection of its own. */
async function openAlone(address: string): Promise<string> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  }
  const asked = request(address, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  })
  asked.end(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }))
  const [response] = await once(asked, 'response')
  response.resume()
  const session = String(response.headers['mcp-session-id'])
  const ready = { jsonrpc: '2.0', method: 'notifications/initialized' }
  expect((await sendAlone(address, session, ready)).status).toBe(202)
  return session
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

describe('serve --workers', () => {
  test('several processes serve one address, and a session works on every connection', async () => {
    const { address, child, tmp } = await workers(2)
    const pids = await allPids(address, 2)
    expect(pids).not.toContain(child.pid)
    const session = await openSession(address)
    const owners = new Set<string>()
    // Connections are passed on in turn, so some of these reach the worker that does not own the session.
    for (let round = 0; round < 8; round++) owners.add(await call(address, session, 'pid'))
    expect(owners.size).toBe(1)
    const streams = await Promise.all([1, 2].map(() => openSession(address)))
    for (const each of streams) {
      const stream = await listenTo(address, each)
      expect(stream.status).toBe(200)
      await call(address, each, 'change')
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes('list_changed')) text += (await reader?.read())?.value ?? ''
      await reader?.cancel()
    }
    expect(await endSession(address, session)).toBe(204)
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    for (let round = 0; round < 4; round++) {
      expect((await sendAlone(address, session, ping)).status).toBe(404)
    }
    child.kill('SIGTERM')
    expect(await exitOf(child)).toBe(0)
    expect(pids.filter(isRunning)).toEqual([])
    expect(readdirSync(tmp)).toEqual([])
  })

  test('what is served is printed once', async () => {
    const { child, errors, address } = await workers(3)
    child.kill('SIGTERM')
    await exitOf(child)
    expect((await errors).split(`listening on ${address}`)).toHaveLength(2)
  })

  test.runIf(posix)('sessions go on when a worker is killed, and it is replaced', async () => {
    const { address, child, errors } = await workers(2)
    const [victim = 0] = await allPids(address, 2)
    let session = await openAlone(address)
    while (Number(await call(address, session, 'pid')) !== victim) {
      session = await openAlone(address)
    }
    process.kill(victim, 'SIGKILL')
    const ask = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pid' } }
    const pid = async (): Promise<number> => {
      // A connection that was just passed to the killed worker breaks.
      const reply = await sendAlone(address, session, ask).catch(() => undefined)
      return reply?.status === 200 ? Number(textOf(reply.message)) : 0
    }
    await expect.poll(pid).toBeGreaterThan(0)
    expect(await pid()).not.toBe(victim)
    const replaced = await allPids(address, 2)
    expect(replaced).not.toContain(victim)
    child.kill('SIGTERM')
    expect(await exitOf(child)).toBe(0)
    expect(await errors).toMatch(/worker \d \(process \d+\) was killed by SIGKILL; it is replaced/)
  })

  test.runIf(posix)('workers end when their parent is killed, and leave nothing', async () => {
    const { address, child, tmp } = await workers(2)
    const pids = await allPids(address, 2)
    child.kill('SIGKILL')
    await expect.poll(() => pids.some(isRunning)).toBe(false)
    expect(readdirSync(tmp)).toEqual([])
  })

  test.runIf(posix)('SIGTERM completes the calls in flight', async () => {
    const { address, child } = await workers(2)
    const folder = emptyFolder()
    const sessions = await Promise.all([1, 2, 3, 4, 5, 6].map(() => openAlone(address)))
    const gate = join(folder, 'gate')
    const calls = sessions.map((session, at) =>
      call(address, session, 'wait', { mark: join(folder, `mark-${at}`), gate }),
    )
    await expect.poll(() => readdirSync(folder)).toHaveLength(sessions.length)
    child.kill('SIGTERM')
    writeFileSync(gate, '')
    const answers = await Promise.all(calls)
    expect(new Set(answers).size).toBe(2)
    expect(await exitOf(child)).toBe(0)
  })

  test.runIf(posix)('a second signal ends all at once', async () => {
    const { address, child } = await workers(2)
    const pids = await allPids(address, 2)
    const folder = emptyFolder()
    const args = { mark: join(folder, 'mark'), gate: join(folder, 'never') }
    const held = call(address, await openAlone(address), 'wait', args).catch(() => 'failed')
    await expect.poll(() => existsSync(args.mark)).toBe(true)
    child.kill('SIGTERM')
    child.kill('SIGINT')
    // The system may deliver them in either order.
    expect([130, 143]).toContain(await exitOf(child))
    await expect.poll(() => pids.some(isRunning)).toBe(false)
    expect(await held).toBe('failed')
  })

  test('all workers have the same keys', async () => {
    const { address } = await workers(2)
    const found = new Map<string, string>()
    while (found.size < 2) {
      const [pid = '', keys = ''] = (await call(address, await openAlone(address), 'keys')).split(
        ' ',
      )
      found.set(pid, keys)
    }
    const keys = new Set(found.values())
    expect(keys.size).toBe(1)
    expect([...keys][0]).toMatch(/^[0-9a-f]{64}$/)
  })

  test.runIf(posix)('a worker that cannot be started again ends all of them', async () => {
    const { address, child, errors, cwd } = await workers(2)
    const pids = await allPids(address, 2)
    writeFileSync(join(cwd, 'broken'), '')
    process.kill(pids[0] ?? 0, 'SIGKILL')
    expect(await exitOf(child)).toBe(1)
    expect(await errors).toMatch(/worker \d ended 3 times in a row before it served/)
    expect(pids.filter(isRunning)).toEqual([])
  })
})

describe('up --workers', () => {
  test('serves the same router in several processes, and prints it once', async () => {
    const { child, report, errors } = await router(['--demo', '--http', '0'])
    const address = String(report.addresses[0])
    const session = await openSession(address)
    for (let round = 0; round < 6; round++) {
      await call(address, session, 'text__count', { text: 'a b' })
    }
    child.kill('SIGTERM')
    expect(await exitOf(child)).toBe(0)
    expect(await errors).not.toContain('Error')
  })

  test('every worker returns the metrics of all, on every address', async () => {
    const { report } = await router(['--demo', '--http', '0'])
    const address = String(report.addresses[0])
    const calls = async (): Promise<number> => {
      const text = await (await fetch(new URL('/metrics', address))).text()
      expect(text.match(/^# TYPE process_cpu_seconds_total /gm)).toHaveLength(1)
      expect(text).toMatch(/^process_cpu_seconds_total\{worker="1"\} /m)
      expect(text).toMatch(/^process_cpu_seconds_total\{worker="2"\} /m)
      const samples = text.matchAll(/^trunkline_calls_total\{.*\} (\d+)$/gm)
      return Array.from(samples, ([, value]) => Number(value)).reduce((one, two) => one + two, 0)
    }
    const before = await calls()
    const sessions = await Promise.all([1, 2, 3, 4].map(() => openAlone(address)))
    for (const each of sessions) await call(address, each, 'text__count', { text: 'a' })
    const after = await calls()
    expect(after).toBeGreaterThanOrEqual(before + sessions.length)
    for (let round = 0; round < 4; round++) expect(await calls()).toBe(after)
  })

  test.runIf(posix)('SIGHUP reaches every worker', async () => {
    const cwd = emptyFolder()
    const config = join(cwd, 'servers.json')
    const server = { command: process.execPath, args: [fixture('../fixtures/everything-stdio.js')] }
    const save = (names: readonly string[]) => {
      const mcpServers = Object.fromEntries(names.map(name => [name, server]))
      writeFileSync(config, JSON.stringify({ mcpServers }))
    }
    save(['one'])
    const { child, report } = await router([config, '--http', '0'], cwd)
    const address = String(report.addresses[0])
    const sessions = await Promise.all([1, 2, 3, 4].map(() => openAlone(address)))
    save(['one', 'two'])
    child.kill('SIGHUP')
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    for (const session of sessions) {
      const names = async () => JSON.stringify(await sendAlone(address, session, list))
      await expect.poll(names).toContain('two__')
    }
  })

  test.runIf(posix)('a Unix socket is shared, and belongs to its user alone', async () => {
    const cwd = emptyFolder()
    const { child } = await router(['--demo', '--listen', 'unix:router.sock'], cwd)
    expect(statSync(join(cwd, 'router.sock')).mode & 0o777).toBe(0o600)
    const { code } = await trunkline(['list', 'unix:router.sock'], { cwd })
    expect(code).toBe(0)
    child.kill('SIGTERM')
    expect(await exitOf(child)).toBe(0)
    expect(existsSync(join(cwd, 'router.sock'))).toBe(false)
  })

  test('a dry run says how many workers there would be', async () => {
    const { code, stdout } = await trunkline(['up', '--demo', '--dry-run', '--workers', '3'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('with 3 workers')])
  })
})

if (redisProgram !== undefined) {
  test('workers are nodes of the cluster of an engine', async () => {
    const server = await redisServer()
    onTestFinished(() => server.close())
    const engine = `redis://127.0.0.1:${server.port}`
    const { report } = await router(['--demo', '--http', '0', '--cluster', engine, '--node', 'web'])
    const session = await openSession(String(report.addresses[0]))
    await call(String(report.addresses[0]), session, 'text__count', { text: 'a' })
    const { nodes } = (await trunkline(['cluster', engine, '--json'])).json()
    expect(nodes.map((each: { name: string }) => each.name).sort()).toEqual(['web-1', 'web-2'])
  })
}

/** Starts a router with two workers. */
function router(args: readonly string[], cwd: string = emptyFolder()) {
  return started(['up', ...args, '--no-cache', '--workers', '2'], { cwd })
}

describe('what cannot be served is reported once, with the usual exit code', () => {
  const rows = [
    ['a file that cannot be loaded', ['serve', 'broken.mjs', '--http', '0'], 'cannot load'],
    ['stdio', ['serve', file], 'needs an address'],
    ['a file that serves itself', ['serve', 'own.mjs', '--http', '0'], 'requires a file'],
    ['a router on stdio', ['up', '--demo', '--listen', 'stdio:'], 'needs an address'],
    ['the console', ['up', '--demo', '--console'], 'the console shows one process'],
    ['an authorization server', ['up', '--demo', '--dev-auth'], '--dev-auth cannot be used'],
    ['a configuration', ['up', 'bad.json'], 'bad.json'],
  ] as const
  test.each(rows)('%s', async (_, args, reason) => {
    const cwd = emptyFolder()
    writeFileSync(join(cwd, 'broken.mjs'), 'throw new Error("broken")')
    const own = new URL('../../dist/index.js', import.meta.url)
    writeFileSync(
      join(cwd, 'own.mjs'),
      `import { serve, Server } from '${own}'\nawait serve(new Server({ name: 'a', version: '1' }))`,
    )
    writeFileSync(join(cwd, 'bad.json'), '{ "mcpServers": 5 }')
    const { code, stderr } = await trunkline([...args, '--workers', '3'], { cwd })
    expect(stderr.split(reason)).toHaveLength(2)
    expect(code).toBe(2)
  })

  test.each(['0', '65', '1.5', 'many'])('%s workers', async count => {
    const { code, stderr } = await trunkline(['up', '--demo', '--workers', count])
    expect([code, stderr]).toEqual([2, expect.stringContaining('--workers must be an integer')])
  })
})

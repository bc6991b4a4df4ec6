import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { redisProgram, redisServer } from '../../scripts/redis-server.js'
import { callTool, openSession } from '../cluster/raw-session.ts'
import { trunkline } from './bin.ts'
import { emptyFolder, started } from './started.ts'

/** Starts `up` with the demo servers as a node. */
async function node(engine: string, name: string, cwd: string) {
  const args = ['up', '--demo', '--no-cache', '--cluster', engine, '--node', name]
  const { child, report } = await started([...args, '--http', '0'], { cwd })
  return { child, address: String(report.addresses[0]) }
}

async function count(address: string, session: string): Promise<unknown> {
  const { status, message } = await callTool(address, session, 'text__count', { text: 'a b' })
  return status === 200 ? message.result?.isError : status
}

describe('up --cluster', () => {
  test('refuses an engine that it does not know, without its password', async () => {
    const { code, stderr } = await trunkline([
      'up',
      '--demo',
      '--cluster',
      'mysql://me:secret@host',
    ])
    expect([code, stderr]).toEqual([2, expect.stringContaining('must begin with redis://')])
    expect(stderr).not.toContain('secret')
  })

  test('says so if the engine cannot be reached', async () => {
    const { code, stderr } = await trunkline(['up', '--demo', '--cluster', 'redis://127.0.0.1:1'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be used')])
  })

  test('the command "cluster" needs an engine', async () => {
    const { code, stderr } = await trunkline(['cluster'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('TRUNKLINE_CLUSTER')])
  })

  test.each([
    [['redis://127.0.0.1:1', 'stop'], '"stop" is no action of a cluster'],
    [['redis://127.0.0.1:1', 'drain'], 'expected the name of one node'],
    [['drain', 'a', 'b'], 'expected the name of one node'],
    [['redis://127.0.0.1:1', 'keys'], 'keys rotate'],
  ])('the command "cluster" refuses %j', async (operands, why) => {
    const { code, stderr } = await trunkline(['cluster', ...operands])
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)])
  })
})

if (redisProgram === undefined) {
  test('redis-server is not installed, so no cluster of routers was started', () => {})
} else {
  const server = await redisServer()
  afterAll(() => server.close())

  test('two routers share sessions, and one continues those of the other', async () => {
    const engine = `redis://127.0.0.1:${server.port}`
    const cwd = emptyFolder()
    const [first, second] = await Promise.all([
      node(engine, 'web-1', cwd),
      node(engine, 'web-2', cwd),
    ])
    const session = await openSession(first.address)
    expect(await count(second.address, session)).toBeUndefined()
    const { stdout } = await trunkline(['cluster', engine, '--json'])
    const { nodes } = JSON.parse(stdout)
    expect(nodes.map((each: { name: string }) => each.name).sort()).toEqual(['web-1', 'web-2'])
    expect(nodes.find((each: { name: string }) => each.name === 'web-1').sessions).toBe(1)
    first.child.kill('SIGTERM')
    await once(first.child, 'exit')
    expect(await count(second.address, session)).toBeUndefined()
  })

  test('an operator replaces the keys', async () => {
    const engine = `redis://127.0.0.1:${server.port}`
    const rotate = ['cluster', engine, 'keys', 'rotate', '--json']
    const [first, second] = [await trunkline(rotate), await trunkline(rotate)]
    const [before, after] = [first, second].map(({ stdout }) => JSON.parse(stdout).generation)
    expect(after).toBe(before + 1)
  })

  test('an operator drains a router, which ends, and its sessions go on', async () => {
    const engine = `redis://127.0.0.1:${server.port}`
    const cwd = emptyFolder()
    const [first, second] = await Promise.all([
      node(engine, 'drain-1', cwd),
      node(engine, 'drain-2', cwd),
    ])
    const session = await openSession(first.address)
    const ended = once(first.child, 'exit')
    const unknown = await trunkline(['cluster', engine, 'drain', 'drain-3'])
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('drain-1, drain-2')])
    const drained = await trunkline(['cluster', engine, 'drain', 'drain-1', '--json'])
    expect([drained.code, JSON.parse(drained.stdout)]).toEqual([
      0,
      { node: 'drain-1', hasLeft: true },
    ])
    expect(drained.stderr).toContain('drain-1 drains, with 1 session')
    expect(await ended).toEqual([0, null])
    expect(await count(second.address, session)).toBeUndefined()
  })
}

if (typeof process.getBuiltinModule?.('node:sqlite') !== 'object') {
  test('on a Node without node:sqlite, an SQLite file is refused', async () => {
    const { code, stderr } = await trunkline(['up', '--demo', '--cluster', 'sqlite:x.db'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('needs Node 22.13')])
  })
} else {
  test('a session survives the restart of a single router', async () => {
    const cwd = emptyFolder()
    const engine = `sqlite:${join(cwd, 'state.db')}`
    const before = await node(engine, 'only', cwd)
    const session = await openSession(before.address)
    before.child.kill('SIGKILL')
    await once(before.child, 'exit')
    const after = await node(engine, 'only', cwd)
    expect(await count(after.address, session)).toBeUndefined()
  })
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { redisProgram, redisServer } from '../../scripts/redis-server.js'
import { connect } from '../../src/connect.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'

/** Two nodes in processes of their own, with one Redis. */
async function nodes(port: number) {
  const [first, second] = await Promise.all([start(port), start(port)])
  return { first, second }
}

/** Returns the id of a task; a call that is answered at once has none. */
function idOf({ id }: { readonly id: string | undefined }): string {
  if (id === undefined) throw new Error('the call did not become a task')
  return id
}

const running = new Set<ChildProcess>()

async function start(port: number) {
  const script = new URL('task-node.js', import.meta.url).pathname
  const child = spawn(process.execPath, [script, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  for await (const address of createInterface({ input: child.stdout })) return { child, address }
  throw new Error('the node did not start')
}

afterEach(async () => {
  for (const child of running) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  running.clear()
})

if (redisProgram === undefined) {
  test('redis-server is not installed, so tasks were not shared through it', () => {})
} else {
  const server = await redisServer()
  afterAll(() => server.close())

  describe.each<RevisionName>(['2025-11-25', '2026-07-28'])(
    'tasks of two nodes in %s',
    revision => {
      const options = { revisions: [revision], onError: () => {} }

      test('are visible on the other node as soon as they are created', async () => {
        const { first, second } = await nodes(server.port)
        await using here = await connect(first.address, options)
        await using there = await connect(second.address, options)
        for (let count = 0; count < 20; count++) {
          const task = await there.task(idOf(await here.start('pid')))
          expect((await task.result()).text).toBe(String(first.child.pid))
        }
      })

      test('are cancelled from the other node', async () => {
        const { first, second } = await nodes(server.port)
        await using here = await connect(first.address, options)
        await using there = await connect(second.address, options)
        const task = await here.start('held')
        await (await there.task(idOf(task))).cancel()
        await expect(task.result()).rejects.toMatchObject({ kind: 'task_cancelled' })
      })

      test('fail when their process is killed, and are readable on the other node', async () => {
        const { first, second } = await nodes(server.port)
        const here = await connect(first.address, options)
        await using there = await connect(second.address, options)
        const done = await here.start('pid')
        await done.result()
        const held = await here.start('held')
        first.child.kill('SIGKILL')
        expect((await (await there.task(idOf(done))).result()).text).toBe(String(first.child.pid))
        const lost = await there.task(idOf(held))
        await expect(lost.result()).rejects.toThrow('The process that ran this task has ended')
        await here.close()
      })
    },
  )
}

// Tasks that every node sees. Two servers share a backplane: a task that is started at one of them is followed, cancelled
// and fetched at the other. In production each server is a process of its own, and the backplane is
// `redis('redis://…')` of trunkline/redis, or `sqlite('tasks.db')` of trunkline/sqlite, which also survives a restart.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'
import { memory } from 'trunkline/backplane'
import { sharedTasks } from 'trunkline/cluster'

const backplane = memory()
await backplane.open()

let finish = () => {}
const finished = new Promise(resolve => {
  finish = resolve
})

function node(name) {
  const tasks = { store: sharedTasks(backplane), pollMs: 20 }
  const server = new Server({ name, version: '1.0.0' }, { tasks })
  server.tool('count', { task: 'required' }, async (_, ctx) => {
    ctx.task?.message(`counting on ${name}`)
    await finished
    return `counted on ${name}`
  })
  return server
}

const [first, second] = [node('node-1'), node('node-2')]
for (const revision of ['2025-11-25', '2026-07-28']) {
  const here = await connect(first, { revisions: [revision] })
  const there = await connect(second, { revisions: [revision] })

  // A task is visible on every node as soon as the call that started it returns.
  const task = await here.start('count')
  const same = await there.task(task.id)
  assert.equal(same.status, 'working')

  finish()
  const { text } = await same.result()
  assert.equal(text, 'counted on node-1')
  console.log(`${revision}: node-2 says: ${text}`)
  await Promise.all([here.close(), there.close()])
}

await backplane.close()

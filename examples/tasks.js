// Calls that continue in the background: the client gets a task immediately and the result later,
// possibly over another connection. The protocol has two designs, and one definition serves both:
//
// - in revision 2025-11-25 the client requests a task with its call;
// - from 2026-07-28 on the server decides, for clients that declare support for tasks.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, Server } from 'trunkline'
import * as z from 'zod'

// The poll interval suggested to callers; one second by default.
const server = new Server({ name: 'oven', version: '1.0.0' }, { tasks: { pollMs: 100 } })

server.tool(
  'bake',
  {
    description: 'Bakes a cake, and asks for the topping',
    input: z.object({ cake: z.string(), ms: z.number().default(20) }),
    // 'optional': as a plain call or as a task; 'required': only as a task.
    task: 'optional',
  },
  async ({ cake, ms }, ctx) => {
    ctx.task?.message('in the oven')
    // A task continues when its caller disconnects. The signal aborts when the task is cancelled.
    await sleep(ms, undefined, { signal: ctx.signal })
    ctx.task?.message('waiting for a decision')
    const { topping } = await ctx.elicit({
      message: `What goes on top of the ${cake}?`,
      schema: z.object({ topping: z.string() }),
    })
    return `${cake} with ${topping}`
  },
)

for (const revision of ['2025-11-25', '2026-07-28']) {
  const options = {
    revisions: [revision],
    elicit: () => ({ action: 'accept', content: { topping: 'cherries' } }),
  }
  const client = await connect(server, options)

  // Start a task, follow it, get its result. The client handles server requests meanwhile.
  const task = await client.start('bake', { cake: 'lemon cake' })
  const seen = []
  for await (const { status } of task.updates) if (seen.at(-1) !== status) seen.push(status)
  const answer = await task.result()
  assert.equal(answer.text, 'lemon cake with cherries')
  assert.equal(seen.at(0), 'working')
  assert.equal(seen.at(-1), 'completed')
  console.log(`${revision}: ${seen.join(', ')}: ${answer.text}`)

  // Start a task, disconnect, and find the task again by its id over another connection.
  const { id } = await client.start('bake', { cake: 'carrot cake' })
  await client.close()
  const later = await connect(server, options)
  const found = await later.task(id)
  assert.equal((await found.result()).text, 'carrot cake with cherries')

  // Cancel a task.
  const burnt = await later.start('bake', { cake: 'cheesecake', ms: 60_000 })
  await burnt.cancel()
  await assert.rejects(burnt.result(), { name: 'RpcError', kind: 'task_cancelled' })

  // A plain call of the same tool.
  assert.equal((await later.call('bake', { cake: 'scones' })).text, 'scones with cherries')
  await later.close()
}
await server.close()

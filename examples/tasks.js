// Calls that go on by themselves: the client gets a task at once and the result later, perhaps over
// another connection. The protocol has two designs for it, and one definition serves both:
//
// - in revision 2025-11-25 the client asks for a task with its call;
// - from 2026-07-28 on the server decides, for clients that say that they know tasks.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, Server } from 'trunkline'
import * as z from 'zod'

// How often callers are to look; once a second unless said otherwise.
const server = new Server({ name: 'oven', version: '1.0.0' }, { tasks: { pollMs: 100 } })

server.tool(
  'bake',
  {
    description: 'Bakes a cake, and asks what goes on top',
    input: z.object({ cake: z.string(), ms: z.number().default(20) }),
    // 'optional': also as an ordinary call; 'required': only as a task.
    task: 'optional',
  },
  async ({ cake, ms }, ctx) => {
    ctx.task?.message('in the oven')
    // A task goes on when its caller is gone; the signal fires when it is cancelled.
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

  // Started, followed, and done. Questions are answered on the way.
  const task = await client.start('bake', { cake: 'lemon cake' })
  const seen = []
  for await (const { status } of task.updates) if (seen.at(-1) !== status) seen.push(status)
  const answer = await task.result()
  assert.equal(answer.text, 'lemon cake with cherries')
  assert.equal(seen.at(0), 'working')
  assert.equal(seen.at(-1), 'completed')
  console.log(`${revision}: ${seen.join(', ')}: ${answer.text}`)

  // Left alone, and found again by its id over another connection.
  const { id } = await client.start('bake', { cake: 'carrot cake' })
  await client.close()
  const later = await connect(server, options)
  const found = await later.task(id)
  assert.equal((await found.result()).text, 'carrot cake with cherries')

  // Cancelled.
  const burnt = await later.start('bake', { cake: 'cheesecake', ms: 60_000 })
  await burnt.cancel()
  await assert.rejects(burnt.result(), { name: 'RpcError', kind: 'task_cancelled' })

  // Whoever does not think of tasks calls as ever.
  assert.equal((await later.call('bake', { cake: 'scones' })).text, 'scones with cherries')
  await later.close()
}
await server.close()

// A server of each era behind one router, and a caller of each era: four combinations. Each server uses
// elicitation as its era defines it, and each caller gets it as its own era defines it.
//
// The router translates. If the server is session-based and the caller stateless, the server waits for a
// response during the call, while the caller gets an input request as the result of its call. The router
// parks the call until the caller retries it with the response.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'
import { Router } from 'trunkline/router'
import * as z from 'zod'

const session = '2025-11-25'
const stateless = '2026-07-28'

function bookings(revision) {
  const server = new Server({ name: 'bookings', version: '1.0.0' }, { revisions: [revision] })
  let booked = 0
  server.tool('book', { input: z.object({ seats: z.number() }) }, async ({ seats }, ctx) => {
    ctx.progress(1, 2, 'looking for seats')
    const { sure } = await ctx.elicit({
      message: `Book ${seats} seats?`,
      schema: z.object({ sure: z.boolean() }),
    })
    if (!sure) return 'Nothing was booked'
    const number = await ctx.once('book', () => ++booked)
    return `Booking ${number}: ${seats} seats`
  })
  return server
}

const router = new Router({
  servers: { before: bookings(session), after: bookings(stateless) },
})

for (const revision of [session, stateless]) {
  const asked = []
  const client = await connect(router, {
    revisions: [revision],
    elicit: ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: { sure: true } }
    },
  })
  assert.equal(client.server.revision.name, revision)
  for (const tool of ['before__book', 'after__book']) {
    const steps = []
    const onProgress = ({ message }) => steps.push(message)
    const { text } = await client.call(tool, { seats: 2 }, { onProgress })
    assert.match(text, /^Booking \d: 2 seats$/)
    assert.equal(asked.pop(), 'Book 2 seats?')
    assert.equal(asked.length, 0)
    assert.equal(steps[0], 'looking for seats')
    console.log(`${client.server.revision.era} caller, ${tool}: ${text}`)
  }
  await client.close()
}

// Each server sees the capabilities of the actual caller. A caller without elicitation gets an error.
const mute = await connect(router, { revisions: [stateless] })
await assert.rejects(mute.call('before__book', { seats: 1 }), {
  message: 'Missing required client capability',
})
await mute.close()

await router.close()

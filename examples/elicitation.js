// A tool that asks the user of the client. One handler works in every protocol version:
//
// - with sessions, the server calls the client back while the tool waits;
// - without sessions, the call is answered with an input request, and the client retries the call with
//   the response. The handler then runs from its beginning; `ctx.once` runs a side effect only once.

import assert from 'node:assert/strict'
import { connect, Declined, Server, text } from 'trunkline'
import * as z from 'zod'

const server = new Server({ name: 'deployer', version: '1.0.0' })
const tickets = []
let runs = 0

server.tool('deploy', { input: z.object({ env: z.string() }) }, async ({ env }, ctx) => {
  runs++
  const ticket = await ctx.once('ticket', () => tickets.push(env))

  // Requests that are sent together travel together, in one round.
  const [{ ok, note }, roots] = await Promise.all([
    ctx.elicit({
      message: `Deploy to ${env}?`,
      schema: z.object({ ok: z.boolean(), note: z.string().default('none') }),
    }),
    ctx.roots(),
  ])
  if (!ok) return 'Not deployed'

  const words = await ctx.sample({
    messages: [{ role: 'user', content: text(`Announce that ${env} was deployed`) }],
    maxTokens: 100,
  })
  return `Ticket ${ticket}, note: ${note}, from ${roots[0].uri}: ${words.content.text}`
})

// If the user declines, `ctx.elicit` throws Declined; if the user dismisses the form, Cancelled.
server.tool('rename', {}, async (_, ctx) => {
  try {
    const { name } = await ctx.elicit({
      message: 'Which name?',
      schema: z.object({ name: z.string().min(2) }),
    })
    return `It is ${name} now`
  } catch (error) {
    if (error instanceof Declined) return 'It keeps its name'
    throw error
  }
})

// A web page instead of a form, and the user's decision as a return value instead of an error.
server.tool('sign in', {}, async (_, ctx) => {
  const { action } = await ctx.elicit({
    message: 'Please sign in',
    url: 'https://example.com/sign-in',
    onDecline: 'return',
  })
  return action === 'accept' ? 'See you there' : 'Perhaps later'
})

for (const revision of ['2025-11-25', '2026-07-28']) {
  const asked = []
  tickets.length = 0
  runs = 0
  const client = await connect(server, {
    revisions: [revision],
    elicit: {
      form: ({ message }) => {
        asked.push(message)
        if (message === 'Which name?') return { action: 'decline' }
        return { action: 'accept', content: { ok: true } }
      },
      url: ({ url }) => {
        asked.push(url)
        return { action: 'accept' }
      },
    },
    sample: ({ messages }) => ({
      role: 'assistant',
      model: 'parrot',
      content: text(messages[0].content.text.toUpperCase()),
    }),
    roots: [{ uri: 'file:///work', name: 'work' }],
  })

  const deployed = await client.call('deploy', { env: 'test' })
  assert.equal(
    deployed.text,
    'Ticket 1, note: none, from file:///work: ANNOUNCE THAT TEST WAS DEPLOYED',
  )
  assert.equal((await client.call('rename')).text, 'It keeps its name')
  assert.equal((await client.call('sign in')).text, 'See you there')

  assert.deepEqual(asked, ['Deploy to test?', 'Which name?', 'https://example.com/sign-in'])
  assert.equal(tickets.length, 1)
  const { era } = client.server.revision
  assert.equal(runs, era === 'session' ? 1 : 3)
  console.log(`${revision} (${era}): one ticket, the handler ran ${runs} time(s)`)
  await client.close()
}

// A client without the capability gets an error that names it.
const mute = await connect(server)
await assert.rejects(mute.call('rename'), { name: 'RpcError' })
await mute.close()

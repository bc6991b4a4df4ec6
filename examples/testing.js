// Tests of a server with Node's test runner. Any other runner works too.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, Server } from 'trunkline'
import { converse, fakeClock, play, readTranscript, transcriptRevisions } from 'trunkline/testing'
import * as z from 'zod'

function weather() {
  const server = new Server({ name: 'weather', version: '1.0.0' })
  server.tool('forecast', { input: z.object({ city: z.string() }) }, async ({ city }, ctx) => {
    const { days } = await ctx.elicit({
      message: 'For how many days?',
      schema: z.object({ days: z.number() }),
    })
    return `Sunny in ${city} for ${days} days`
  })
  server.tool('outlook', {}, (_, { signal }) => sleep(24 * 60 * 60_000, 'Clouds', { signal }))
  return server
}

// In process: no child process, no port, and the same code path as on every transport.

describe('forecast', () => {
  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    test(`asks for how many days, in revision ${revision}`, async () => {
      const client = await connect(weather(), {
        revisions: [revision],
        elicit: () => ({ action: 'accept', content: { days: 3 } }),
      })
      const answer = await client.call('forecast', { city: 'Oslo' })
      assert.equal(answer.text, 'Sunny in Oslo for 3 days')
      await client.close()
    })
  }
})

// With a fake clock, a minute takes no time.

test('a call times out after a minute without a response', async () => {
  const clock = fakeClock()
  const client = await connect(weather(), { clock })
  const call = client.call('outlook')
  clock.advance(60_000)
  await assert.rejects(call, { name: 'ChannelError', code: 'timeout' })
  await client.close()
  assert.equal(clock.pending, 0)
})

// With a transcript: > lines are sent, < lines must be received.

const transcript = readTranscript(`
A client with a session lists the tools and calls an unknown one.

serve: weather
revision: 2025-06-18, 2025-11-25

> {"id":1,"method":"initialize","params":{"protocolVersion":"$revision","capabilities":{},
   "clientInfo":{"name":"transcript","version":"1.0.0"}}}
< {"id":1,"result":{"protocolVersion":"$revision","serverInfo":{"name":"weather",…},…}}
> {"method":"notifications/initialized"}
> {"id":2,"method":"tools/list"}
< {"id":2,"result":{"tools":[{"name":"forecast","inputSchema":{"type":"object",…},…},…]}}
> {"id":3,"method":"tools/call","params":{"name":"storm"}}
< {"id":3,"error":{"code":-32602,"message":"…","data":{"tool":"storm",…}}}
`)

for (const revision of transcriptRevisions(transcript)) {
  test(`the server follows the transcript, in revision ${revision}`, async () => {
    const open = async () => {
      const [channel, conversation] = converse()
      weather().attach(channel)
      return conversation
    }
    await play(transcript, open, { names: { revision } })
  })
}

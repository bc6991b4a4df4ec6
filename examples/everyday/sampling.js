// @ts-check
// A tool that has the model of the client answer with the help of another tool, in both eras.

import assert from 'node:assert/strict'
import { connect, Server, text } from 'trunkline'
import * as z from 'zod'

/** @typedef {Parameters<import('trunkline').Context['sample']>[0]} Sampling */

/** @type {Readonly<Record<string, string>>} */
const capitals = { Norway: 'Oslo' }
const server = new Server({ name: 'geography', version: '1.0.0' })

// ---- the task
/** @type {Sampling['tools']} */
const tools = [{ name: 'capital', inputSchema: { type: 'object' } }]
server.tool('ask', { input: z.object({ question: z.string() }) }, async ({ question }, ctx) => {
  /** @type {Sampling['messages'][number][]} */
  const messages = [{ role: 'user', content: text(question) }]
  for (;;) {
    const { role, content } = await ctx.sample({ messages, tools, maxTokens: 500 })
    const uses = [content].flat().filter(block => block.type === 'tool_use')
    if (!uses.length) return content
    messages.push({ role, content })
    for (const { id, input } of uses) {
      const content = [text(capitals[`${input.country}`] ?? 'unknown')]
      messages.push({ role: 'user', content: { type: 'tool_result', toolUseId: id, content } })
    }
  }
})
// ---- the check

/**
 * A model that looks everything up.
 *
 * @type {NonNullable<import('trunkline').ClientOptions['sample']>}
 */
const sample = ({ messages }) => {
  const last = [messages.at(-1)?.content].flat().at(-1)
  const found = last?.type === 'tool_result' ? last.content[0] : undefined
  const input = { country: 'Norway' }
  return {
    role: 'assistant',
    model: 'm',
    content:
      found?.type === 'text'
        ? text(`It is ${found.text}.`)
        : { type: 'tool_use', id: '1', name: 'capital', input },
  }
}

for (const revision of /** @type {const} */ (['2025-11-25', '2026-07-28'])) {
  const client = await connect(server, { revisions: [revision], sample, sampling: { tools: true } })
  const answer = await client.call('ask', { question: 'What is the capital of Norway?' })
  assert.equal(answer.text, 'It is Oslo.')
  console.log(`${revision}: ${answer.text}`)
  await client.close()
}

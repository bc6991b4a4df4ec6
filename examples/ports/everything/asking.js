// @ts-check
// What tools that ask the client have in common.

import { text } from 'trunkline'
import * as z from 'zod'

export const annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}
export const open = { ...annotations, openWorldHint: true }
export const none = z.object({})
export const json = (/** @type {unknown} */ value) => JSON.stringify(value, null, 2)

export const sampling = {
  input: z.object({
    prompt: z.string().describe('The prompt to send to the LLM'),
    maxTokens: z.number().default(100).describe('Maximum number of tokens to generate'),
  }),
  annotations: open,
}
/**
 * Has the model of the client answer a prompt.
 *
 * @param {import('trunkline').Context} ctx
 * @param {string} tool
 * @param {z.infer<typeof sampling.input>} input
 * @param {{ task?: { ttlMs: number } }} [options]
 */
export const sample = (ctx, tool, { prompt, maxTokens }, options) =>
  ctx.sample(
    {
      messages: [{ role: 'user', content: text(`Resource ${tool} context: ${prompt}`) }],
      systemPrompt: 'You are a helpful test server.',
      maxTokens,
      temperature: 0.7,
    },
    options,
  )

/** @param {Readonly<Record<string, unknown>>} values */
export function linesOf(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return given.map(([label, value]) => `- ${label}: ${value}`).join('\n')
}

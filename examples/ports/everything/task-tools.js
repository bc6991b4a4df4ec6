// @ts-check
// The tools that run as tasks, and those that have the client run a task.

import { setTimeout as sleep } from 'node:timers/promises'
import { text } from 'trunkline'
import * as z from 'zod'
import { annotations, json, linesOf, none, sample, sampling } from './asking.js'
import { interpretationsOf, reportOf, stages } from './research.js'
import { server } from './server.js'

server.tool(
  'simulate-research-query',
  {
    title: 'Simulate Research Query',
    description:
      "Simulates a deep research operation that gathers, analyzes, and synthesizes information. Demonstrates MCP task-based operations with progress through multiple stages. If 'ambiguous' is true and client supports elicitation, sends an elicitation request for clarification.",
    input: z.object({
      topic: z.string().describe('The research topic to investigate'),
      ambiguous: z
        .boolean()
        .default(false)
        .describe(
          'Simulate an ambiguous query that requires clarification (triggers input_required status)',
        ),
    }),
    annotations,
    task: 'required',
  },
  async ({ topic, ambiguous }, ctx) => {
    let clarification
    for (const stage of stages) {
      ctx.task?.message(`${stage}...`)
      const asks = ambiguous && ctx.caller.capabilities.elicitation !== undefined
      if (stage === stages[2] && asks) {
        ctx.task?.message(
          `Found multiple interpretations for "${topic}". Requesting clarification...`,
        )
        clarification = await clarify(topic, ctx)
        ctx.task?.message(`Continuing with interpretation: "${clarification}"...`)
      }
      await sleep(1000, undefined, { signal: ctx.signal })
    }
    return reportOf(topic, clarification)
  },
)

/**
 * @param {string} topic
 * @param {import('trunkline').Context} ctx
 */
async function clarify(topic, ctx) {
  try {
    const { action, content } = await ctx.elicit({
      message: `The research query "${topic}" could have multiple interpretations. Please clarify what you're looking for:`,
      schema: {
        type: 'object',
        properties: {
          interpretation: {
            type: 'string',
            title: 'Clarification',
            description: 'Which interpretation of the topic do you mean?',
            oneOf: interpretationsOf(topic),
          },
        },
        required: ['interpretation'],
      },
      onDecline: 'return',
    })
    if (action === 'accept') return content.interpretation || 'User accepted without selection'
    return `User ${action === 'decline' ? 'declined' : 'cancelled'} - using default interpretation`
  } catch {
    return 'technical (default - elicitation unavailable)'
  }
}

server.tool(
  'trigger-sampling-request-async',
  {
    ...sampling,
    title: 'Trigger Async Sampling Request Tool',
    description:
      'Trigger an async sampling request that the CLIENT executes as a background task. Demonstrates bidirectional MCP tasks where the server sends a request and the client executes it asynchronously, allowing the server to poll for progress and results.',
    visible: ({ capabilities: { sampling, tasks } }) =>
      sampling !== undefined && tasks?.requests?.sampling?.createMessage !== undefined,
  },
  async (input, ctx) => {
    const task = { ttlMs: 300_000 }
    const result = await sample(ctx, 'trigger-sampling-request-async', input, { task })
    return `[COMPLETED] Async sampling completed!\n\n**Result:**\n${json(result)}`
  },
)

server.tool(
  'trigger-elicitation-request-async',
  {
    title: 'Trigger Async Elicitation Request Tool',
    description:
      'Trigger an async elicitation request that the CLIENT executes as a background task. Demonstrates bidirectional MCP tasks where the server sends an elicitation request and the client handles user input asynchronously, allowing the server to poll for completion.',
    input: none,
    annotations,
    visible: ({ capabilities: { elicitation, tasks } }) =>
      elicitation !== undefined && tasks?.requests?.elicitation?.create !== undefined,
  },
  async (_, ctx) => {
    const answer = await ctx.elicit({
      message: 'Please provide inputs for the following fields (async task demo):',
      schema: {
        type: 'object',
        properties: {
          name: { title: 'Your Name', type: 'string', description: 'Your full name' },
          favoriteColor: {
            title: 'Favorite Color',
            type: 'string',
            description: 'What is your favorite color?',
            enum: ['Red', 'Blue', 'Green', 'Yellow', 'Purple'],
          },
          agreeToTerms: {
            title: 'Terms Agreement',
            type: 'boolean',
            description: 'Do you agree to the terms and conditions?',
          },
        },
        required: ['name'],
      },
      onDecline: 'return',
      task: { ttlMs: 600_000 },
    })
    const raw = `\nRaw result: ${json(answer)}`
    if (answer.action === 'decline') {
      return [text('[DECLINED] User declined to provide the requested information.'), raw]
    }
    if (answer.action === 'cancel') {
      return [text('[CANCELLED] User cancelled the elicitation dialog.'), raw]
    }
    const { name, favoriteColor, agreeToTerms } = answer.content
    const lines = linesOf({
      Name: name,
      'Favorite Color': favoriteColor,
      'Agreed to terms': agreeToTerms,
    })
    return [
      text('[COMPLETED] User provided the requested information!'),
      `User inputs:\n${lines}`,
      raw,
    ]
  },
)

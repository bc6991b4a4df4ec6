import { z } from 'zod'
import { toolCall } from '../messages.js'

/*
 * The tool that every MCP server under test has. By default it is small, so that the cost of the protocol
 * dominates. With BENCH_TOOL=large it has five arguments, including an object and an array, and validating
 * them costs as much as everything else.
 */

const small = {
  name: 'greet',
  description: 'Greets somebody.',
  zodInput: z.object({ name: z.string(), times: z.number() }),
  plainInput: {
    type: 'object',
    properties: { name: { type: 'string' }, times: { type: 'number' } },
    required: ['name', 'times'],
  },
  answerTo: ({ name, times }) => `Hello ${name}, for the ${times}th time.`,
  argumentsOf: i => ({ name: `visitor ${i % 1024}`, times: i % 97 }),
  badArguments: { name: 'visitor', times: 'many' },
}

const large = {
  name: 'search_documents',
  description: 'Finds documents by words, with filters and tags.',
  zodInput: z.object({
    query: z.string().min(1),
    limit: z.number().int().min(1).max(100),
    filters: z.object({ year: z.number().int(), department: z.string(), archived: z.boolean() }),
    tags: z.array(z.string()).max(10),
    exact: z.boolean().optional(),
  }),
  plainInput: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1 },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      filters: {
        type: 'object',
        properties: {
          year: { type: 'integer' },
          department: { type: 'string' },
          archived: { type: 'boolean' },
        },
        required: ['year', 'department', 'archived'],
      },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 10 },
      exact: { type: 'boolean' },
    },
    required: ['query', 'limit', 'filters', 'tags'],
  },
  answerTo: ({ query, limit, filters, tags }) =>
    `${limit} documents of ${filters.year} about "${query}", tagged ${tags[0]} and ${tags[1]}.`,
  argumentsOf: i => toolCall(i).params.arguments,
  badArguments: { ...toolCall(1).params.arguments, limit: 'many' },
}

export const {
  name,
  description,
  /** The input schema, as Zod. */
  zodInput,
  /** The input schema, as plain JSON Schema. */
  plainInput,
  /** Returns the result text for some arguments. */
  answerTo,
  /** Returns the arguments of one call; the first thousand are all different. */
  argumentsOf,
  /** Arguments that both schemas reject. */
  badArguments,
} = process.env.BENCH_TOOL === 'large' ? large : small

export const info = { name: 'bench', version: '1.0.0' }

/** Registers the tools on a server of the official SDKs. */
export function withTools(server) {
  const says = text => ({ content: [{ type: 'text', text }] })
  server.registerTool(name, { description, inputSchema: zodInput }, args => says(answerTo(args)))
  server.registerTool('usage', {}, () => says(String(ownMicros())))
  return server
}

/** Returns the CPU time of this process so far, which the second tool, `usage`, reports. */
export function ownMicros() {
  const { user, system } = process.cpuUsage()
  return user + system
}

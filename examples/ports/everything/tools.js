// @ts-check
// The tools that every client sees.

import { setTimeout as sleep } from 'node:timers/promises'
import { MCP_TINY_IMAGE } from '@modelcontextprotocol/server-everything/dist/tools/get-tiny-image.js'
import { embed, image, link, text } from 'trunkline'
import * as z from 'zod'
import { blobResource, kind, resourceOf, textResource } from './dynamic.js'
import { compressed } from './gzip.js'
import { keepFile } from './resources.js'
import { server, toggle } from './server.js'

const hints = { destructiveHint: false, openWorldHint: false }
const reading = { annotations: { ...hints, readOnlyHint: true, idempotentHint: true } }
const acting = { annotations: { ...hints, readOnlyHint: false, idempotentHint: false } }
const none = z.object({})

server.tool(
  'echo',
  {
    ...reading,
    title: 'Echo Tool',
    description: 'Echoes back the input string',
    input: z.object({ message: z.string().describe('Message to echo') }),
  },
  ({ message }) => `Echo: ${message}`,
)

server.tool(
  'get-annotated-message',
  {
    ...reading,
    title: 'Get Annotated Message Tool',
    description: 'Demonstrates how annotations can be used to provide metadata about content.',
    input: z.object({
      messageType: z
        .enum(['error', 'success', 'debug'])
        .describe('Type of message to demonstrate different annotation patterns'),
      includeImage: z.boolean().default(false).describe('Whether to include an example image'),
    }),
  },
  ({ messageType, includeImage }) => {
    const message = {
      error: text('Error: Operation failed', { priority: 1, audience: ['user', 'assistant'] }),
      success: text('Operation completed successfully', { priority: 0.7, audience: ['user'] }),
      debug: text('Debug: Cache hit ratio 0.95, latency 150ms', {
        priority: 0.3,
        audience: ['assistant'],
      }),
    }[messageType]
    if (!includeImage) return message
    return [message, image(MCP_TINY_IMAGE, 'image/png', { priority: 0.5, audience: ['user'] })]
  },
)

server.tool(
  'get-env',
  {
    ...reading,
    title: 'Print Environment Tool',
    description:
      'Returns all environment variables, helpful for debugging MCP server configuration',
    input: none,
  },
  () => JSON.stringify(process.env, null, 2),
)

server.tool(
  'get-resource-links',
  {
    ...reading,
    title: 'Get Resource Links Tool',
    description: 'Returns up to ten resource links that reference different types of resources',
    input: z.object({
      count: z
        .number()
        .min(1)
        .max(10)
        .default(3)
        .describe('Number of resource links to return (1-10)'),
    }),
  },
  ({ count }) => [
    `Here are ${count} resource links to resources available in this server:`,
    ...Array.from({ length: count }, (_, at) => {
      const isText = at % 2 === 1
      const { uri, mimeType } = isText ? textResource(at + 1) : blobResource(at + 1)
      return link(uri, {
        name: `${isText ? 'Text' : 'Blob'} Resource ${at + 1}`,
        description: `Resource ${at + 1}: plaintext resource`,
        mimeType,
      })
    }),
  ],
)

server.tool(
  'get-resource-reference',
  {
    ...reading,
    title: 'Get Resource Reference Tool',
    description: 'Returns a resource reference that can be used by MCP clients',
    input: z.object({
      resourceType: kind.default('Text'),
      resourceId: z.number().default(1).describe('ID of the text resource to fetch'),
    }),
  },
  ({ resourceType, resourceId }) => {
    const resource = resourceOf(resourceType, resourceId)
    return [
      `Returning resource reference for Resource ${resourceId}:`,
      embed(resource),
      `You can access this resource using the URI: ${resource.uri}`,
    ]
  },
)

server.tool(
  'get-structured-content',
  {
    ...reading,
    title: 'Get Structured Content Tool',
    description:
      'Returns structured content along with an output schema for client data validation',
    input: z.object({
      location: z.enum(['New York', 'Chicago', 'Los Angeles']).describe('Choose city'),
    }),
    output: z.object({
      temperature: z.number().describe('Temperature in celsius'),
      conditions: z.string().describe('Weather conditions description'),
      humidity: z.number().describe('Humidity percentage'),
    }),
  },
  ({ location }) =>
    ({
      'New York': { temperature: 33, conditions: 'Cloudy', humidity: 82 },
      Chicago: { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 },
      'Los Angeles': { temperature: 73, conditions: 'Sunny / Clear', humidity: 48 },
    })[location],
)

server.tool(
  'get-sum',
  {
    ...reading,
    title: 'Get Sum Tool',
    description: 'Returns the sum of two numbers',
    input: z.object({
      a: z.number().describe('First number'),
      b: z.number().describe('Second number'),
    }),
  },
  ({ a, b }) => `The sum of ${a} and ${b} is ${a + b}.`,
)

server.tool(
  'get-tiny-image',
  {
    ...reading,
    title: 'Get Tiny Image Tool',
    description: 'Returns a tiny MCP logo image.',
    input: none,
  },
  () => [
    "Here's the image you requested:",
    image(MCP_TINY_IMAGE, 'image/png'),
    'The image above is the MCP logo.',
  ],
)

server.tool(
  'gzip-file-as-resource',
  {
    title: 'GZip File as Resource Tool',
    description:
      'Compresses a single file using gzip compression. Depending upon the selected output type, returns either the compressed data as a gzipped resource or a resource link, allowing it to be downloaded in a subsequent request during the current session.',
    input: z.object({
      name: z.string().default('README.md.gz').describe('Name of the output file'),
      data: z
        .url()
        .default(
          'https://raw.githubusercontent.com/modelcontextprotocol/servers/refs/heads/main/README.md',
        )
        .describe('URL or data URI of the file content to compress'),
      outputType: z
        .enum(['resourceLink', 'resource'])
        .default('resourceLink')
        .describe(
          "How the resulting gzipped file should be returned. 'resourceLink' returns a link to a resource that can be read later, 'resource' returns a full resource object.",
        ),
    }),
    annotations: { ...reading.annotations, readOnlyHint: false, openWorldHint: true },
  },
  async ({ name, data, outputType }, { session }) => {
    const file = keepFile(session, name, await compressed(data))
    return outputType === 'resource'
      ? embed(file)
      : link(file.uri, { name, mimeType: file.mimeType })
  },
)

/** @type {Parameters<import('trunkline/server').Session['log']>[0][]} */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

const toggleLogging = toggle(session => {
  const level = levels[Math.floor(Math.random() * levels.length)] ?? 'info'
  const name = level[0]?.toUpperCase() + level.slice(1)
  session.log(level, level === 'alert' ? 'Alert level-message' : `${name}-level message`)
})

server.tool(
  'toggle-simulated-logging',
  {
    ...acting,
    title: 'Toggle Simulated Logging',
    description: 'Toggles simulated, random-leveled logging on or off.',
    input: none,
  },
  (_, ctx) => {
    const { session, isOn } = toggleLogging(ctx.session)
    if (!isOn) return `Stopped simulated logging for session ${session.id}`
    return `Started simulated, random-leveled logging for session ${session.id} at a 5 second pace. Client's selected logging level will be respected. If an interval elapses and the message to be sent is below the selected level, it will not be sent. Thus at higher chosen logging levels, messages should arrive further apart. `
  },
)

const toggleUpdates = toggle(session => {
  for (const uri of session.subscriptions) {
    session.notify('notifications/resources/updated', { uri })
  }
})

server.tool(
  'toggle-subscriber-updates',
  {
    ...acting,
    title: 'Toggle Subscriber Updates',
    description: 'Toggles simulated resource subscription updates on or off.',
    input: none,
  },
  (_, ctx) => {
    const { session, isOn } = toggleUpdates(ctx.session)
    if (!isOn) return `Stopped simulated resource updates for session ${session.id}`
    return `Started simulated resource updated notifications for session ${session.id} at a 5 second pace. Client will receive updates for any resources the it is subscribed to.`
  },
)

server.tool(
  'trigger-long-running-operation',
  {
    ...reading,
    title: 'Trigger Long Running Operation Tool',
    description: 'Demonstrates a long running operation with progress updates.',
    input: z.object({
      duration: z.number().default(10).describe('Duration of the operation in seconds'),
      steps: z.number().default(5).describe('Number of steps in the operation'),
    }),
  },
  async ({ duration, steps }, ctx) => {
    for (let step = 1; step <= steps; step++) {
      await sleep((duration / steps) * 1000, undefined, { signal: ctx.signal })
      ctx.progress(step, steps)
    }
    return `Long running operation completed. Duration: ${duration} seconds, Steps: ${steps}.`
  },
)

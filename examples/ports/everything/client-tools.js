// @ts-check
// The tools that need an ability of the client. Clients without it do not see them.

import { randomUUID } from 'node:crypto'
import { errors, text } from 'trunkline'
import * as z from 'zod'
import { annotations, json, linesOf, none, open, sample, sampling } from './asking.js'
import { rootsOf, server } from './server.js'

server.tool(
  'get-roots-list',
  {
    title: 'Get Roots List Tool',
    description:
      "Lists the current MCP roots provided by the client. Demonstrates the roots protocol capability even though this server doesn't access files.",
    input: none,
    annotations: { ...annotations, readOnlyHint: true, idempotentHint: true },
    visible: ({ capabilities }) => capabilities.roots !== undefined,
  },
  async (_, ctx) => {
    const roots = (ctx.session && rootsOf.get(ctx.session)) ?? (await ctx.roots())
    if (roots.length === 0) {
      return "The client supports roots but no roots are currently configured.\n\nThis could mean:\n1. The client hasn't provided any roots yet\n2. The client provided an empty roots list\n3. The roots configuration is still being loaded"
    }
    const lines = roots.map(
      ({ name, uri }, at) => `${at + 1}. ${name || 'Unnamed Root'}\n   URI: ${uri}`,
    )
    return `Current MCP Roots (${roots.length} total):\n\n${lines.join('\n\n')}\n\nNote: This server demonstrates the roots protocol capability but doesn't actually access files. The roots are provided by the MCP client and can be used by servers that need file system access.`
  },
)

server.tool(
  'trigger-elicitation-request',
  {
    title: 'Trigger Elicitation Request Tool',
    description: 'Trigger a Request from the Server for User Elicitation',
    input: none,
    annotations,
    visible: ({ capabilities }) => capabilities.elicitation !== undefined,
  },
  async (_, ctx) => {
    const answer = await ctx.elicit({
      message: 'Please provide inputs for the following fields:',
      schema: {
        type: 'object',
        properties: {
          name: { title: 'String', type: 'string', description: 'Your full, legal name' },
          check: {
            title: 'Boolean',
            type: 'boolean',
            description: 'Agree to the terms and conditions',
          },
          firstLine: {
            title: 'String with default',
            type: 'string',
            description: 'Favorite first line of a story',
            default: 'It was a dark and stormy night.',
          },
          email: {
            title: 'String with email format',
            type: 'string',
            format: 'email',
            description: 'Your email address (will be verified, and never shared with anyone else)',
          },
          homepage: {
            type: 'string',
            format: 'uri',
            title: 'String with uri format',
            description: 'Portfolio / personal website',
          },
          birthdate: {
            title: 'String with date format',
            type: 'string',
            format: 'date',
            description: 'Your date of birth',
          },
          integer: {
            title: 'Integer',
            type: 'integer',
            description:
              'Your favorite integer (do not give us your phone number, pin, or other sensitive info)',
            minimum: 1,
            maximum: 100,
            default: 42,
          },
          number: {
            title: 'Number in range 1-1000',
            type: 'number',
            description: 'Favorite number (there are no wrong answers)',
            minimum: 0,
            maximum: 1000,
            default: 3.14,
          },
          untitledSingleSelectEnum: {
            type: 'string',
            title: 'Untitled Single Select Enum',
            description: 'Choose your favorite friend',
            enum: ['Monica', 'Rachel', 'Joey', 'Chandler', 'Ross', 'Phoebe'],
            default: 'Monica',
          },
          untitledMultipleSelectEnum: {
            type: 'array',
            title: 'Untitled Multiple Select Enum',
            description: 'Choose your favorite instruments',
            minItems: 1,
            maxItems: 3,
            items: { type: 'string', enum: ['Guitar', 'Piano', 'Violin', 'Drums', 'Bass'] },
            default: ['Guitar'],
          },
          titledSingleSelectEnum: {
            type: 'string',
            title: 'Titled Single Select Enum',
            description: 'Choose your favorite hero',
            oneOf: [
              { const: 'hero-1', title: 'Superman' },
              { const: 'hero-2', title: 'Green Lantern' },
              { const: 'hero-3', title: 'Wonder Woman' },
            ],
            default: 'hero-1',
          },
          titledMultipleSelectEnum: {
            type: 'array',
            title: 'Titled Multiple Select Enum',
            description: 'Choose your favorite types of fish',
            minItems: 1,
            maxItems: 3,
            items: {
              anyOf: [
                { const: 'fish-1', title: 'Tuna' },
                { const: 'fish-2', title: 'Salmon' },
                { const: 'fish-3', title: 'Trout' },
              ],
            },
            default: ['fish-1'],
          },
          legacyTitledEnum: {
            type: 'string',
            title: 'Legacy Titled Single Select Enum',
            description: 'Choose your favorite type of pet',
            enum: ['pet-1', 'pet-2', 'pet-3', 'pet-4', 'pet-5'],
            enumNames: ['Cats', 'Dogs', 'Birds', 'Fish', 'Reptiles'],
            default: 'pet-1',
          },
        },
        required: ['name'],
      },
      onDecline: 'return',
    })
    const raw = `\nRaw result: ${json(answer)}`
    if (answer.action === 'decline') {
      return [text('❌ User declined to provide the requested information.'), raw]
    }
    if (answer.action === 'cancel') return [text('⚠️ User cancelled the elicitation dialog.'), raw]
    const { name, check, email, homepage, birthdate, integer, number } = answer.content
    const lines = linesOf({
      Name: name,
      'Agreed to terms': check,
      Email: email,
      Homepage: homepage,
      Birthdate: birthdate,
      'Favorite Integer': integer,
      'Favorite Number': number,
    })
    return [text('✅ User provided the requested information!'), `User inputs:\n${lines}`, raw]
  },
)

/** The calls that were answered with the error, until they are repeated. */
const refused = new Set()

server.tool(
  'trigger-url-elicitation',
  {
    title: 'Trigger URL Elicitation Tool',
    description:
      "Trigger a URL elicitation so the client can direct the user to a browser flow. Supports two mechanisms: the request path (elicitation/create, default) which awaits the user's response, and the error path (UrlElicitationRequiredError, -32042) which signals the client to handle URL elicitation via the error response. Set errorPath=true to use the error path.",
    input: z.object({
      url: z.url().describe('The URL the user should open'),
      message: z
        .string()
        .default('Please open the link to complete this action.')
        .describe('Message shown to the user before opening the URL'),
      elicitationId: z
        .string()
        .optional()
        .describe('Optional explicit elicitation ID. Defaults to a random UUID.'),
      errorPath: z
        .boolean()
        .default(false)
        .describe(
          'Controls which elicitation mechanism is used. When false (default), sends an elicitation/create request (request path). When true, throws a UrlElicitationRequiredError (MCP error code -32042) so the client handles the URL elicitation via the error path rather than waiting for a response. To clear the error, satisfy the prerequisite and retry this call with the same arguments; the retry ignores errorPath and proceeds, so the client does not loop on the same error.',
        ),
    }),
    annotations: open,
    visible: ({ capabilities }) => capabilities.elicitation?.url !== undefined,
  },
  async ({ url, message, errorPath, ...given }, ctx) => {
    const call = json([ctx.session?.id, url, given])
    if (errorPath && !refused.delete(call)) {
      refused.add(call)
      const elicitation = {
        url: 'https://modelcontextprotocol.io',
        message: 'Open this link to satisfy the prerequisite, then retry the request.',
      }
      throw errors.urlElicitationRequired(
        { elicitations: [elicitation] },
        { message: 'This request requires browser-based authorization.' },
      )
    }
    const { elicitationId = await ctx.once('id', () => randomUUID()) } = given
    const answer = await ctx.elicit({ message, url, elicitationId, onDecline: 'return' })
    const outcome = {
      accept: `✅ User completed the URL elicitation flow.\nElicitation ID: ${elicitationId}\nURL: ${url}`,
      decline: `❌ User declined to open the URL (Elicitation ID: ${elicitationId}).`,
      cancel: `⚠️ User cancelled the URL elicitation (Elicitation ID: ${elicitationId}).`,
    }
    return [text(outcome[answer.action]), `\nRaw result: ${json(answer)}`]
  },
)

server.tool(
  'trigger-sampling-request',
  {
    ...sampling,
    title: 'Trigger Sampling Request Tool',
    description: 'Trigger a Request from the Server for LLM Sampling',
    visible: ({ capabilities }) => capabilities.sampling !== undefined,
  },
  async (input, ctx) => {
    const result = await sample(ctx, 'trigger-sampling-request', input)
    return `LLM sampling result: \n${json(result)}`
  },
)

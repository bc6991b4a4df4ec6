// node client.js URL: the client that the conformance suite starts, with the scenario in the
// environment. It negotiates the revision with the server on its own.

import { connect } from '../../dist/index.js'
import { credentialsOf } from './auth.js'

const { MCP_CONFORMANCE_SCENARIO = '', MCP_CONFORMANCE_CONTEXT = '{}' } = process.env
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT)
const { toolCalls = [] } = context
const isAuth = MCP_CONFORMANCE_SCENARIO.startsWith('auth/')

/** Loads every skill, and then every file of it. */
async function loadSkills(client) {
  for await (const entry of client.skills()) {
    const skill = await client.skill(entry)
    for (const { uri } of entry.resources) await skill.read(uri)
  }
}

const scenarios = new Map(
  Object.entries({
    tools_call: client => client.call('add_numbers', { a: 5, b: 3 }),

    'elicitation-sep1034-client-defaults': client =>
      client.call('test_client_elicitation_defaults', {}),

    'sse-retry': client => client.call('test_reconnection', {}),

    'sep-2322-client-request-state': async client => {
      await client.call('test_mrtr_echo_state', {})
      await client.call('test_mrtr_no_state', {})
      await client.call('test_mrtr_no_result_type', {})
    },

    'http-standard-headers': async (client, tools) => {
      for (const { name } of tools) await client.call(name, {})
      for await (const { uri } of client.resources()) await client.read(uri)
      for await (const { name } of client.prompts()) await client.prompt(name)
    },

    'http-custom-headers': async client => {
      for (const { name, arguments: args } of toolCalls) await client.call(name, args)
    },

    // Every tool that is left in the list is usable.
    'http-invalid-tool-headers': async (client, tools) => {
      for (const { name } of tools) await client.call(name, { region: 'eu', value: 'x' })
    },

    'sep-2640-client-no-prefetch': async client => {
      for await (const _ of client.skills());
    },
    'sep-2640-client-verify-digest': loadSkills,
    'sep-2640-client-verify-size': loadSkills,
    'sep-2640-client-verify-frontmatter': loadSkills,

    'json-schema-2020-12-preservation': (client, tools) => {
      const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool')
      return client.call('json_schema_echo', { schema: inputSchema })
    },
  }),
)

const client = await connect(process.argv[2], {
  name: 'conformance',
  version: '1.0.0',
  roots: [],
  ...(isAuth && { auth: credentialsOf(MCP_CONFORMANCE_SCENARIO, context) }),
  sample: () => ({ role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'none' }),
  elicit: async () => {
    // Another request between the rounds of the first one, which must not be taken for a round.
    if (MCP_CONFORMANCE_SCENARIO.startsWith('sep-2322')) await client.call('test_mrtr_unrelated')
    return { action: 'accept', content: {} }
  },
})
const tools = []
for await (const tool of client.tools()) tools.push(tool)
if (isAuth) await client.call('test-tool', {})
await scenarios.get(MCP_CONFORMANCE_SCENARIO)?.(client, tools)
await client.close()
// judge.js reads this: with several scenarios at once the suite does not look at exit codes.
console.log('done')

// Lists the tools of any MCP server, or calls one of them:
//
//   node examples/call-tool.js ADDRESS [TOOL [ARGUMENTS]]
//   node examples/call-tool.js tcp://127.0.0.1:4000 sum '{"numbers": [1, 2, 4]}'

import { createInterface } from 'node:readline/promises'
import { connect } from 'trunkline'

const [address, tool, args] = process.argv.slice(2)

if (address === undefined) {
  console.error('usage: node examples/call-tool.js ADDRESS [TOOL [ARGUMENTS]]')
  process.exit(2)
}

try {
  const client = await connect(address, { name: 'call-tool', elicit: ask })
  try {
    if (tool === undefined) await list(client)
    else await call(client)
  } finally {
    await client.close()
  }
} catch (error) {
  console.error(`${error.name} ${error.code ?? ''}: ${error.message}`)
  process.exitCode = 1
}

async function list(client) {
  const { name, version, revision } = client.server
  console.log(`${name} ${version}, revision ${revision.name}`)
  for await (const { name, description = '' } of client.tools()) {
    console.log(`  ${name.padEnd(12)} ${description}`)
  }
}

async function call(client) {
  const onProgress = ({ progress, total }) => console.error(`${progress} of ${total ?? '?'}`)
  const input = args === undefined ? {} : JSON.parse(args)
  const answer = await client.call(tool, input, { onProgress })
  console.log(answer.text)
  if (answer.isError) process.exitCode = 1
}

/** Handles elicitation: asks the user at the terminal for each field of the form. */
async function ask({ message, requestedSchema }, { signal }) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  console.error(message)
  const content = {}
  try {
    for (const [name, { type, title = name }] of Object.entries(requestedSchema.properties)) {
      const typed = await terminal.question(`  ${title}: `, { signal })
      content[name] = type === 'string' ? typed : JSON.parse(typed)
    }
    return { action: 'accept', content }
  } finally {
    terminal.close()
  }
}

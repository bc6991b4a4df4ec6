// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { McpClient } = await import('@strands-agents/sdk')
const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')

const client = new McpClient({ transport: new StdioClientTransport({ command, args, env }) })
const tools = await client.listTools()
const echo = tools.find(({ name }) => name.endsWith('everything__echo'))
const answer = await client.callTool(echo, { message: 'hi' })
await client.disconnect()
console.log(JSON.stringify({ tools: tools.length, answer }))
process.exit()

// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')

const client = new Client({ name: 'zoo', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command, args, env }))
const { tools } = await client.listTools()
const answer = await client.callTool({ name: 'everything__echo', arguments: { message: 'hi' } })
await client.close()
console.log(JSON.stringify({ tools: tools.length, answer }))

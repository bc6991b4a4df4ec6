// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { mcpToTool } = await import('@google/genai')
const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')

const client = new Client({ name: 'zoo', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command, args, env }))
const callable = mcpToTool(client)
const { functionDeclarations } = await callable.tool()
const answer = await callable.callTool([{ name: 'everything__echo', args: { message: 'hi' } }])
await client.close()
console.log(JSON.stringify({ tools: functionDeclarations.length, answer }))

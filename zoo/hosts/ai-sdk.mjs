// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { createMCPClient } = await import('@ai-sdk/mcp')
const { Experimental_StdioMCPTransport } = await import('@ai-sdk/mcp/mcp-stdio')

const client = await createMCPClient({
  transport: new Experimental_StdioMCPTransport({ command, args, env }),
})
const tools = await client.tools()
const answer = await tools.everything__echo.execute(
  { message: 'hi' },
  { toolCallId: '1', messages: [] },
)
await client.close()
console.log(JSON.stringify({ tools: Object.keys(tools).length, answer }))

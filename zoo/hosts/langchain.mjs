// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { MultiServerMCPClient } = await import('@langchain/mcp-adapters')

const client = new MultiServerMCPClient({
  mcpServers: { zoo: { transport: 'stdio', command, args, env } },
})
const tools = await client.getTools()
const echo = tools.find(({ name }) => name.endsWith('everything__echo'))
const answer = await echo.invoke({ message: 'hi' })
await client.close()
console.log(JSON.stringify({ tools: tools.length, answer }))

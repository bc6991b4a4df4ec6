// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { MCPServerStdio } = await import('@openai/agents')

const server = new MCPServerStdio({ command, args, env })
await server.connect()
const tools = await server.listTools()
const answer = await server.callTool('everything__echo', { message: 'hi' })
await server.close()
console.log(JSON.stringify({ tools: tools.length, answer }))
process.exit()

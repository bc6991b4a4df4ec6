// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { MCPClient } = await import('@mastra/mcp')

const client = new MCPClient({ servers: { zoo: { command, args, env } } })
const tools = await client.listTools()
const answer = await tools.zoo_everything__echo.execute({ message: 'hi' }, {})
await client.disconnect()
console.log(JSON.stringify({ tools: Object.keys(tools).length, answer }))
process.exit()

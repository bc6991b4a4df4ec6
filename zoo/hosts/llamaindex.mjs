// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { mcp } = await import('@llamaindex/tools')

const server = mcp({ command, args, env })
const tools = await server.tools()
const echo = tools.find(({ metadata }) => metadata.name.endsWith('everything__echo'))
const answer = await echo.call({ message: 'hi' })
await server.cleanup()
console.log(JSON.stringify({ tools: tools.length, answer }))
process.exit()

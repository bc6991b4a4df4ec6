// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { MCPToolset } = await import('@google/adk/tools/mcp')

const toolset = new MCPToolset({
  type: 'StdioConnectionParams',
  serverParams: { command, args, env },
})
const tools = await toolset.getTools()
const echo = tools.find(({ name }) => name.endsWith('everything__echo'))
const answer = await echo.runAsync({ args: { message: 'hi' }, toolContext: {} })
await toolset.close()
console.log(JSON.stringify({ tools: tools.length, answer }))
process.exit()

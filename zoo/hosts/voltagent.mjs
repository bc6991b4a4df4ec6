// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { MCPConfiguration } = await import('@voltagent/core')

const configuration = new MCPConfiguration({
  servers: { zoo: { type: 'stdio', command, args, env } },
})
const tools = await configuration.getTools()
const echo = tools.find(({ name }) => name.endsWith('everything__echo'))
const answer = await echo.execute({ message: 'hi' })
await configuration.disconnect()
console.log(JSON.stringify({ tools: tools.length, answer }))
process.exit()

// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { createMCPClient } = await import('@tanstack/ai-mcp')
const { stdioTransport } = await import('@tanstack/ai-mcp/stdio')

const client = await createMCPClient({ transport: stdioTransport({ command, args, env }) })
const tools = await client.tools()
const echo = tools.find(({ name }) => name.endsWith('everything__echo'))
const answer = await echo.execute({ message: 'hi' })
await client.close()
console.log(JSON.stringify({ tools: tools.length, answer }))
process.exit()

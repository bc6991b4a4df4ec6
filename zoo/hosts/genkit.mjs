// Prints what the host sees of the server whose command is the first argument.
const { command, args, env } = JSON.parse(process.argv[2])
const { genkit } = await import('genkit')
const { createMcpHost } = await import('@genkit-ai/mcp')

const ai = genkit({})
const host = createMcpHost({ name: 'zoo', mcpServers: { zoo: { command, args, env } } })
const tools = await host.getActiveTools(ai)
const echo = tools.find(tool => tool.__action.name.endsWith('everything__echo'))
const answer = await echo({ message: 'hi' })
await host.close()
console.log(JSON.stringify({ tools: tools.length, answer }))
process.exit()

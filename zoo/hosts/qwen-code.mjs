// Prints what the host sees of the server whose command is the first argument.
import { freshHome, printConnected, run } from './run-program.mjs'

const server = JSON.parse(process.argv[2])
const home = freshHome('.qwen/settings.json', { mcpServers: { zoo: server } })
printConnected(await run('qwen', ['mcp', 'list'], { home }))

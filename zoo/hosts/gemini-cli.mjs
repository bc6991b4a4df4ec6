// Prints what the host sees of the server whose command is the first argument.
import { freshHome, printConnected, run } from './run-program.mjs'

const server = JSON.parse(process.argv[2])
const security = { folderTrust: { enabled: false } }
const home = freshHome('.gemini/settings.json', { mcpServers: { zoo: server }, security })
printConnected(await run('gemini', ['mcp', 'list'], { home }))

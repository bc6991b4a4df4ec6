// Prints what the host sees of the server whose command is the first argument.
import { freshHome, printConnected, run } from './run-program.mjs'

const { command, args, env } = JSON.parse(process.argv[2])
const zoo = { type: 'local', command: [command, ...args], environment: env }
const home = freshHome('.config/opencode/opencode.json', { mcp: { zoo } })
printConnected(await run('opencode', ['mcp', 'list'], { home }))

// Prints what the host sees of the server whose command is the first argument.
import { run } from './run-program.mjs'

const { command, args, env } = JSON.parse(process.argv[2])
const cli = ['--cli', command, ...args, '--method']
const list = await run('mcp-inspector', [...cli, 'tools/list'], { env })
const echo = ['--tool-name', 'everything__echo', '--tool-arg', 'message=hi']
const answer = await run('mcp-inspector', [...cli, 'tools/call', ...echo], { env })
console.log(JSON.stringify({ tools: list.match(/"inputSchema"/g)?.length, answer }))

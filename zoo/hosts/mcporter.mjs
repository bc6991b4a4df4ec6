// Prints what the host sees of the server whose command is the first argument.
import { run } from './run-program.mjs'

const { command, args, env } = JSON.parse(process.argv[2])
const server = ['--stdio', [command, ...args].join(' ')]
const list = await run('mcporter', ['list', ...server], { env })
const answer = await run('mcporter', ['call', ...server, 'everything__echo', 'message=hi'], { env })
console.log(JSON.stringify({ tools: Number(/(\d+) tools/.exec(list)?.[1]), answer }))

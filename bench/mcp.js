import { calls } from './mcp/calls.js'
import { start } from './mcp/start.js'
import { stdio } from './mcp/stdio.js'
import { texts } from './mcp/texts.js'

/** Measures tool calls in both eras, in process and over stdio, and the start of a server. */
export async function mcp(options) {
  return [
    ...(await calls(options)),
    ...(await texts(options)),
    ...(await stdio(options)),
    ...(await start(options)),
  ]
}

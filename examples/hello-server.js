// A server in three lines. MCP hosts start it and communicate with it over stdio:
//
//   node examples/hello-server.js                     on standard input and output
//   node examples/hello-server.js --tcp 4000          on a port of this machine
//
// examples/hello-client.js starts it and calls its tool.

import { Server, serve } from 'trunkline'
import * as z from 'zod'

const server = new Server({ name: 'hello', version: '1.0.0' })
server.tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}!`)
await serve(server)

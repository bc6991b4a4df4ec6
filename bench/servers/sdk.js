/* The core of the official SDK without its MCP layer, on stdio. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { BareProtocol } from '../bare-protocol.js'
import { methods } from './methods.js'

const server = new BareProtocol()
server.fallbackRequestHandler = async ({ method, params }) => methods[method](params)
await server.connect(new StdioServerTransport())
process.stdin.on('end', () => process.exit(0))

/* The official SDK 2.4 as an MCP server on stdio, in whichever era the client begins. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { sdk2Server } from '../mcp/definition-sdk2.js'

serveStdio(() => sdk2Server())
process.stdin.on('end', () => process.exit(0))

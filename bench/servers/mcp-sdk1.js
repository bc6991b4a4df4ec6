/* The official SDK 1.32 as an MCP server on stdio. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { sdk1Server } from '../mcp/definition-sdk1.js'

await sdk1Server().connect(new StdioServerTransport())
process.stdin.on('end', () => process.exit(0))

/* A server of one tool on the official SDK 1.32. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'hello', version: '1.0.0' })
server.registerTool('hello', { inputSchema: { who: z.string() } }, () => ({
  content: [{ type: 'text', text: String(process.memoryUsage().rss) }],
}))
await server.connect(new StdioServerTransport())
process.stdin.on('end', () => process.exit(0))

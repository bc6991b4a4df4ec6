/* A server of one tool on the official SDK 2.4. */
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

serveStdio(() => {
  const server = new McpServer({ name: 'hello', version: '1.0.0' })
  server.registerTool('hello', { inputSchema: z.object({ who: z.string() }) }, () => ({
    content: [{ type: 'text', text: String(process.memoryUsage().rss) }],
  }))
  return server
})
process.stdin.on('end', () => process.exit(0))

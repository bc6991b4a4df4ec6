/* node hello-bare.js [zod]: the least that answers like a server of one tool. */
import { serveLines } from './bare-lines.js'

if (process.argv[2] === 'zod') {
  const { z } = await import('zod')
  z.toJSONSchema(z.object({ who: z.string() }))
}

const tools = [{ name: 'hello', inputSchema: { type: 'object' } }]
const text = () => String(process.memoryUsage().rss)
const results = new Map([
  ['tools/list', () => ({ tools })],
  ['tools/call', () => ({ content: [{ type: 'text', text: text() }] })],
])

serveLines(process.stdin, process.stdout, 'joined', line => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return undefined
  return JSON.stringify({ jsonrpc: '2.0', id, result: results.get(method)?.() ?? {} })
})
process.stdin.on('end', () => process.exit(0))

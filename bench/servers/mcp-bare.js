/*
 * The floor of the MCP suites: JSON.parse, a Map of tools, JSON.stringify, no validation.
 * node mcp-bare.js each|joined, where `joined` writes the responses of one chunk together.
 */
import { serveLines } from './bare-lines.js'

const [writes] = process.argv.slice(2)

const search = ({ query, limit, filters, tags }) =>
  `${limit} documents of ${filters.year} about "${query}", tagged ${tags[0]} and ${tags[1]}.`
const greet = ({ name, times }) => `Hello ${name}, for the ${times}th time.`
const usage = () => {
  const { user, system } = process.cpuUsage()
  return String(user + system)
}
const tools = new Map([
  ['greet', greet],
  ['search_documents', search],
  ['usage', usage],
])

serveLines(process.stdin, process.stdout, writes, text => {
  const { id, method, params } = JSON.parse(text)
  if (id === undefined) return undefined
  const result =
    method === 'tools/call'
      ? { content: [{ type: 'text', text: tools.get(params.name)(params.arguments) }] }
      : {}
  return JSON.stringify({ jsonrpc: '2.0', id, result })
})
process.stdin.on('end', () => process.exit(0))

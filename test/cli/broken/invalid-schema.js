// Lists tools with invalid schemas, and one whose schema is valid but odd.

import { refusal, serve, tool } from './stdio.js'

const tools = [
  { ...tool, name: 'texts', inputSchema: { type: 'string' } },
  {
    ...tool,
    name: 'types',
    inputSchema: { type: 'object', properties: { a: { type: 'strnig' } } },
  },
  { ...tool, name: 'none', inputSchema: undefined },
  {
    ...tool,
    name: 'header',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'object', 'x-mcp-header': 'A' } },
    },
  },
  {
    ...tool,
    name: 'choice',
    inputSchema: { type: 'object', properties: { a: { enum: [] } } },
  },
]
const list = ({ cursor }) =>
  cursor === undefined ? { result: { tools } } : refusal(-32602, 'no such cursor')
serve({ answers: { 'tools/list': list } })

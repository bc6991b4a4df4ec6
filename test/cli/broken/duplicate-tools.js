// Lists one tool twice.

import { refusal, serve, tool } from './stdio.js'

const list = ({ cursor }) =>
  cursor === undefined ? { result: { tools: [tool, tool] } } : refusal(-32602, 'no such cursor')
serve({ answers: { 'tools/list': list } })

// node server.js: serves every feature over HTTP on a free port, prints its address as one line, and
// ends with its input.

import * as trunkline from '../../dist/index.js'
import { everything } from '../fixtures/everything.js'

const server = everything(trunkline, { stepMs: 20 })
const listener = await trunkline.listen(server, 'http://127.0.0.1:0/mcp')
process.stdout.write(`${listener.address}\n`)

process.stdin.resume().on('end', () => listener.close())

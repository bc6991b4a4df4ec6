// A node with tasks in Redis: node task-node.js PORT. Prints its address.

import { listen, Server } from 'trunkline'
import { sharedTasks } from 'trunkline/cluster'
import { redis } from 'trunkline/redis'

const backplane = redis(`redis://127.0.0.1:${process.argv[2]}`)
await backplane.open()
const tasks = { store: sharedTasks(backplane), pollMs: 20, leaseMs: 1500 }
const server = new Server({ name: 'node', version: '1' }, { tasks, onError: () => {} })
server.tool('pid', { task: 'required' }, () => String(process.pid))
server.tool('held', { task: 'required' }, () => new Promise(() => {}))
const listener = await listen(server, 'http://127.0.0.1:0/mcp')
console.log(listener.address)

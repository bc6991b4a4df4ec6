/*
 * node router-rival.js mcp-proxy|supergateway: another package that serves a stdio server over HTTP. It
 * needs a fixed port, so this program finds a free one first.
 */
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { command } from '../child.js'
import { announce } from './methods.js'

const port = await freePort()
const { command: node, args } = command('mcp-trunkline')
const file = path =>
  fileURLToPath(new URL(`../../third-party/node_modules/${path}`, import.meta.url))
const programs = {
  'mcp-proxy': [
    file('mcp-proxy/dist/bin/mcp-proxy.mjs'),
    ...['--port', port, '--host', '127.0.0.1', '--server', 'stream', '--', node, ...args],
  ],
  supergateway: [
    file('supergateway/dist/index.js'),
    ...['--stdio', [node, ...args].join(' '), '--outputTransport', 'streamableHttp'],
    ...['--stateful', '--logLevel', 'none', '--port', port],
  ],
}

const child = spawn(process.execPath, programs[process.argv[2]].map(String), {
  stdio: ['ignore', 'ignore', 'inherit'],
  detached: true,
})
process.on('exit', () => {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has exited already.
  }
})
child.on('exit', code => process.exit(code ?? 1))
while (!(await isOpen())) await pause(50)
announce(port)

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const found = server.address().port
      server.close(() => resolve(found))
    })
  })
}

function isOpen() {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

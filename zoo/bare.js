import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { environment } from './servers.js'

/**
 * Starts all programs at the same time and lists their tools, with nothing in between but lines on stdin and
 * stdout: the least time that the machine needs. Resolves to that time in ms, and the servers that failed.
 */
export async function startBare(commands) {
  const begin = performance.now()
  const failed = []
  const children = []
  await Promise.all(
    commands.map(async ({ name, command, args, cwd, env }) => {
      const child = spawn(command, args, {
        cwd,
        env: { ...environment, ...env },
        stdio: ['pipe', 'pipe', 'ignore'],
        detached: true,
      })
      children.push(child)
      const isListed = await converse(child)
      if (!isListed) failed.push(name)
    }),
  )
  const ms = performance.now() - begin
  for (const { pid } of children) end(pid)
  return { ms, failed }
}

function converse(child) {
  return new Promise(resolve => {
    const send = message => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    child.on('error', () => resolve(false))
    child.on('exit', () => resolve(false))
    child.stdin.on('error', () => resolve(false))
    createInterface({ input: child.stdout }).on('line', line => {
      const { id, method } = read(line)
      // Some servers wait for answers to their own requests, such as for the roots.
      if (method !== undefined && id !== undefined) send({ id, error: refusal })
      else if (id === 1) {
        send({ method: 'notifications/initialized' })
        send({ id: 2, method: 'tools/list' })
      } else if (id === 2) resolve(true)
    })
    const clientInfo = { name: 'bare', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    send({ id: 1, method: 'initialize', params })
  })
}

const refusal = { code: -32601, message: 'Method not found' }

// Some servers print text on stdout.
function read(line) {
  try {
    return JSON.parse(line) ?? {}
  } catch {
    return {}
  }
}

// Children of the children are in the same process group.
function end(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has exited already.
  }
}

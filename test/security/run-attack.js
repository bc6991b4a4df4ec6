import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { attacks, openSocket } from './attacks.js'

/**
 * Runs an attack on a process of its own. Returns by how much its memory grew at most and how much of
 * that is no garbage, and for how long its event loop was busy at most.
 */
export async function runAttack(name) {
  const script = new URL('attacked.js', import.meta.url).pathname
  const child = spawn(process.execPath, ['--expose-gc', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const read = async () => JSON.parse((await lines.next()).value)
  const [web, tcp] = await read()
  const ask = () => {
    child.stdin.write('\n')
    return read()
  }
  const sockets = []
  const open = async port => {
    const socket = await openSocket(port)
    sockets.push(socket)
    return socket
  }
  try {
    const before = await ask()
    await attacks[name]({ web, tcp, open, ask })
    const after = await ask()
    const keptBytes = after.bytes - before.bytes
    const grownBytes = after.peakBytes - before.bytes
    return { keptBytes, grownBytes, blockedMs: after.blockedMs }
  } finally {
    for (const socket of sockets) socket.destroy()
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

// `node test/security/run-attack.js` prints what each attack costs; with a text, those whose names contain it.
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [wanted = ''] = process.argv.slice(2)
  for (const name of Object.keys(attacks).filter(one => one.includes(wanted))) {
    const { keptBytes, grownBytes, blockedMs } = await runAttack(name)
    const [kept, grown] = [keptBytes, grownBytes].map(bytes => Math.round(bytes / 1024 / 1024))
    console.log(`${kept} MiB kept, ${grown} MiB at most, ${Math.round(blockedMs)} ms: ${name}`)
  }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { attacks, openSocket } from './attacks.js'

/**
 * The C library of Linux keeps freed blocks for later, more of them the larger they are, unless its thresholds
 * are fixed. Then what is resident is what is in use.
 */
const allocator = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/** Runs an attack on a process of its own. Returns what it cost: see run-attack.d.ts. */
export async function runAttack(name) {
  const script = new URL('attacked.js', import.meta.url).pathname
  const child = spawn(process.execPath, ['--expose-gc', script], {
    env: { ...process.env, ...allocator },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const read = async () => JSON.parse((await lines.next()).value)
  const [web, tcp] = await read()
  const ask = question => {
    child.stdin.write(`${question}\n`)
    return read()
  }
  const sockets = []
  const open = async port => {
    const socket = await openSocket(port)
    sockets.push(socket)
    return socket
  }
  try {
    const before = await ask('cost')
    const calls = async () => (await ask('calls')).calls
    const settle = () => ask('settle')
    await attacks[name]({ web, tcp, open, calls, settle })
    const after = await ask('cost')
    const keptBytes = after.bytes - before.bytes
    const grownBytes = after.peakBytes - before.bytes
    const heldBytes = after.heldBytes - before.heldBytes
    const { blockedMs, referenceMs } = after
    return { keptBytes, grownBytes, heldBytes, blockedMs, blockedRatio: blockedMs / referenceMs }
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
    const { keptBytes, grownBytes, heldBytes, blockedMs, blockedRatio } = await runAttack(name)
    const sizes = [keptBytes, grownBytes, heldBytes]
    const [kept, grown, held] = sizes.map(bytes => Math.round(bytes / 1024 / 1024))
    const times = `${Math.round(blockedMs)} ms (${blockedRatio.toFixed(1)} ×)`
    console.log(`${kept} MiB kept, ${grown} MiB at most, ${held} MiB held, ${times}: ${name}`)
  }
}

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type ChildCommand, type ConnectOptions, connect, Server } from '../src/index.ts'

const program = fileURLToPath(new URL('mcp-interop/connects-server.js', import.meta.url))

/** The number of connections of each kind. */
const plan = { inProcess: 370, tcp: 200, unix: 200, webSocket: 200, child: 30 }
const atOnce = 10

const maxWaitMs = 60_000

type Counts = Readonly<Record<string, number>>
type Target = string | ChildCommand | Server

/** Counts by kind the resources that keep a process alive; other kinds vary with the running code. */
function lasting(resources: readonly string[]): Counts {
  const counts: Record<string, number> = {}
  for (const kind of resources) {
    if (/Wrap$|Timeout|Immediate/.test(kind)) counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

/** Opens, uses and closes one connection; some are closed while a call and a stream are open. */
async function visit(target: Target, nth: number, options: ConnectOptions): Promise<void> {
  const era = nth % 2 === 0 ? 'session' : 'stateless'
  const client = await connect(target, { era, ...options })
  const answer = await client.call('echo', { text: `visit ${nth}` })
  expect(answer.text).toBe(`visit ${nth}`)
  if (nth % 3 === 0) {
    const changes = client.changes({ tools: true })
    await changes.ready
    const begun = new Promise<void>(resolve => {
      client.call('wait', {}, { onProgress: () => resolve() }).then(undefined, () => {})
    })
    await begun
  }
  await client.close()
}

async function visits(target: Target, count: number, options: ConnectOptions = {}): Promise<void> {
  let next = 0
  const visitor = async (): Promise<void> => {
    while (next < count) await visit(target, next++, options)
  }
  await Promise.all(Array.from({ length: atOnce }, visitor))
}

function inProcess(): Server {
  const server = new Server({ name: 'connects', version: '1.0.0' })
  const input = { type: 'object', properties: { text: { type: 'string' } } } as const
  server.tool('echo', { input }, ({ text: words }) => `${words}`)
  server.tool('wait', {}, (_input, ctx) => {
    ctx.progress(1)
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
    })
  })
  return server
}

interface Open {
  readonly here: Counts
  readonly there: Counts
}

/** Returns the resources in `after` that exceed their count in `before`. */
function left(after: Open, before: Open): string[] {
  const beyond = (side: keyof Open): string[] =>
    Object.entries(after[side])
      .filter(([kind, count]) => count > (before[side][kind] ?? 0))
      .map(([kind, count]) => `${count} ${kind} ${side}`)
  return [...beyond('here'), ...beyond('there')]
}

test('a thousand connections leave no child, no socket and no timer on either side', async () => {
  const socket = `unix:${join(tmpdir(), `trunkline-connects-${process.pid}.sock`)}`
  const child = fork(program, ['tcp://127.0.0.1:0', socket, 'ws://127.0.0.1:0/mcp'], {
    silent: true,
  })
  const printed = child.stderr === null ? '' : text(child.stderr)
  const pids: (number | undefined)[] = []
  const started = { onChild: ({ pid }: { readonly pid?: number }) => pids.push(pid) }
  try {
    const [[tcp, unix, webSocket]] = await once(child, 'message')
    const stillOpen = async (): Promise<Open> => {
      child.send('open')
      const [there] = await once(child, 'message')
      return { here: lasting(process.getActiveResourcesInfo()), there: lasting(there) }
    }
    const command = { command: process.execPath, args: [program] }
    const addresses: readonly string[] = [tcp, unix, webSocket]
    // Resources that a process opens once, such as its stderr, stay open from then on.
    for (const address of addresses) await visits(address, 2)
    const before = await stillOpen()
    await visits(inProcess(), plan.inProcess)
    await visits(tcp, plan.tcp)
    await visits(unix, plan.unix)
    await visits(webSocket, plan.webSocket)
    await visits(command, plan.child, started)

    // Polls without a timer, because a timer would be counted.
    const giveUpAt = Date.now() + maxWaitMs
    let after = await stillOpen()
    while (left(after, before).length > 0 && Date.now() < giveUpAt) {
      await turn()
      after = await stillOpen()
    }
    expect(left(after, before)).toEqual([])
    expect(pids).toHaveLength(plan.child)
    expect(pids.filter(isAlive)).toEqual([])
    const exit = once(child, 'exit')
    child.disconnect()
    expect(await exit).toEqual([0, null])
  } finally {
    child.kill()
  }
  expect(await printed).toBe('')
})

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

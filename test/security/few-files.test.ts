import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'

// Other systems do not tell how many files are open.
test.runIf(process.platform === 'linux')(
  'connections of strangers leave file handles for everything else',
  async () => {
    const script = new URL('few-files.js', import.meta.url).pathname
    const limited = 'ulimit -n 96 && exec "$0" "$1"'
    const child = spawn('/bin/sh', ['-c', limited, process.execPath, script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const address = new URL(String((await lines.next()).value))
    const sockets = Array.from({ length: 200 }, () => connect(Number(address.port), '127.0.0.1'))
    for (const socket of sockets) {
      socket.on('error', () => {}).resume()
      onTestFinished(() => void socket.destroy())
    }
    await Promise.all(sockets.map(socket => once(socket, 'connect').catch(() => {})))
    await expect.poll(() => sockets.filter(socket => socket.closed).length).toBeGreaterThan(100)
    child.stdin.write('look\n')
    const { status, errors, open } = JSON.parse(String((await lines.next()).value))
    expect([status, errors.length]).toEqual([0, 1])
    expect(errors[0]).toMatch(/^refused \d+ connections: only 24 of 96 file handles are free$/)
    expect(open).toBeLessThan(80)
  },
)

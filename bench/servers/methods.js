import { createServer } from 'node:net'

/** What every server under test answers. */
export const methods = {
  echo: params => params,
  /** What the process has used so far; `{ collect: true }` collects garbage before looking. */
  usage(params) {
    if (params?.collect) globalThis.gc()
    const { user, system } = process.cpuUsage()
    return { cpuMicros: user + system, ...process.memoryUsage() }
  },
}

/** Tells the parent where to connect, and ends with it: a server process must not outlive its run. */
export function announce(port) {
  process.stdout.write(`${port}\n`)
  process.stdin.on('end', () => process.exit(0)).resume()
}

/** Serves each connection of a free TCP port of the loopback. */
export function serveTcp(serve) {
  const server = createServer({ noDelay: true }, socket => {
    socket.on('error', () => socket.destroy())
    serve(socket)
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    announce(server.address().port),
  )
}

/** The lines of a stream; `turn` follows the last line of each chunk. */
export function eachLine(stream, line, turn = () => {}) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', chunk => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop()
    for (const part of parts) line(part)
    turn()
  })
}

import { createServer } from 'node:net'

/** The methods of every server under test. */
export const methods = {
  echo: params => params,
  /** Returns the resource usage of the process; `{ collect: true }` collects garbage first. */
  usage(params) {
    if (params?.collect) globalThis.gc()
    const { user, system } = process.cpuUsage()
    return { cpuMicros: user + system, ...process.memoryUsage() }
  },
}

/** Reports the port to the parent process and exits with it, so that no server outlives its run. */
export function announce(port) {
  process.stdout.write(`${port}\n`)
  process.stdin.on('end', () => process.exit(0)).resume()
}

/** Serves each connection to a free TCP port of the loopback interface. */
export function serveTcp(serve) {
  const server = createServer({ noDelay: true }, socket => {
    socket.on('error', () => socket.destroy())
    serve(socket)
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    announce(server.address().port),
  )
}

/** Splits a stream into lines; calls `turn` after the last line of each chunk. */
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

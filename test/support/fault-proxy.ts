import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What a proxy does to the bytes that pass. */
export interface ProxyFaults {
  /** Milliseconds by which everything is delayed. */
  delayMs: number
  /** Whether bytes vanish, in both directions, without any connection being closed. */
  isSwallowing: boolean
  /** Replies vanish on a connection from the moment on when the client sends this text; none do if it is empty. */
  silentAfter: string
  /** Whether bytes pass one at a time. */
  isSlicing: boolean
}

/** A proxy between a program and the server that it uses, which can inflict faults on their connections. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  readonly faults: ProxyFaults
  /** The number of connections that it has accepted. */
  readonly accepted: number
  /** Cuts all connections. */
  cut(): void
  close(): Promise<void>
}

/** Starts a proxy on the loopback interface that passes everything to a port there. */
export async function faultProxy(target: number): Promise<FaultProxy> {
  const faults: ProxyFaults = { delayMs: 0, isSwallowing: false, silentAfter: '', isSlicing: false }
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer(client => {
    accepted++
    const upstream = connect(target, '127.0.0.1')
    let isSilent = false
    pass(client, upstream, bytes => {
      const { silentAfter } = faults
      if (silentAfter !== '' && bytes.includes(silentAfter)) isSilent = true
      return true
    })
    pass(upstream, client, () => !isSilent)
  })

  function pass(from: Socket, to: Socket, doesPass: (bytes: Buffer) => boolean): void {
    sockets.add(from)
    from.on('error', () => {})
    from.on('data', bytes => {
      if (!doesPass(bytes) || faults.isSwallowing) return
      if (faults.delayMs > 0) setTimeout(() => write(to, bytes), faults.delayMs)
      else write(to, bytes)
    })
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }

  function write(to: Socket, bytes: Buffer): void {
    if (to.destroyed) return
    if (!faults.isSlicing) return void to.write(bytes)
    to.setNoDelay(true)
    for (const byte of bytes) to.write(Buffer.of(byte))
  }

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const close = async () => {
    cut()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The check: a server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo
  return {
    port,
    faults,
    get accepted() {
      return accepted
    },
    cut,
    close,
    [Symbol.asyncDispose]: close,
  }
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy on the loopback interface whose connections can be cut. */
export interface CutProxy {
  readonly port: number
  /** Cuts all connections. New ones can be opened. */
  cut(): void
}

/** Starts a proxy in front of a port, for as long as the test lasts. */
export async function cutProxy(port: number): Promise<CutProxy> {
  const sockets = new Set<Socket>()
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy = createServer(near => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    cut()
    proxy.close()
  })
  return { port: (proxy.address() as AddressInfo).port, cut }
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy on the loopback interface whose connections can be cut. */
export interface CutProxy {
  readonly port: number
  /** Cuts all connections. New ones can be opened. */
  cut(): void
  /** Cuts all connections, and refuses new ones until `start` is called. */
  stop(): void
  /** Accepts connections again, at the same port. */
  start(): Promise<void>
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
  const listen = async (at: number): Promise<void> => {
    proxy.listen(at, '127.0.0.1')
    await once(proxy, 'listening')
  }
  const stop = (): void => {
    cut()
    proxy.close()
  }
  await listen(0)
  onTestFinished(stop)
  const { port: own } = proxy.address() as AddressInfo
  return { port: own, cut, stop, start: () => listen(own) }
}

import { onTestFinished } from 'vitest'
import { type ListenOptions, listen } from '../../src/listen.ts'
import type { Server } from '../../src/server/server.ts'
import type { Listener } from '../../src/transport/listener.ts'
import { type Stage, stage } from '../support/http-server.ts'
import { type Asking, ask, type Reply, Wire, written } from './raw.ts'
import { inSession, opening, speaking } from './requests.ts'

/** A server on a local port, and a minimal client. */
export interface Served extends Stage {
  readonly listener: Listener
  readonly port: number
  /** The errors that the listener reported. */
  readonly failures: unknown[]
  /** Sends a request over a new connection. */
  ask(asking: Asking): Promise<Reply>
  /** Sends a request and leaves the connection open. */
  open(asking?: Asking): Promise<Wire>
  /** Opens a session and returns its id. */
  session(revision?: string): Promise<string>
  /** Fails unless the server still responds in both eras. */
  isAlive(): Promise<void>
}

/** Serves the stage, or the given server, until the test finishes. */
export async function serve(options: ListenOptions = {}, own?: Server): Promise<Served> {
  const on = stage()
  const failures: unknown[] = []
  const onError = (error: unknown): void => void failures.push(error)
  const server = own ?? on.server
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', { onError, ...options })
  onTestFinished(() => listener.close())
  const port = Number(new URL(listener.address).port)
  const served: Served = {
    ...on,
    server,
    listener,
    port,
    failures,
    ask: asking => ask(port, written(port, asking)),
    open: async asking => {
      const wire = await Wire.open(port)
      return asking === undefined ? wire : wire.send(written(port, asking))
    },
    session: async revision => {
      const { headers } = await served.ask(opening(revision))
      const id = headers.get('mcp-session-id') ?? ''
      const { status } = await served.ask(inSession(id, 'notifications/initialized'))
      if (status !== 202) throw new Error(`there is no session: ${status}`)
      return id
    },
    isAlive: async () => {
      const said = await served.ask(speaking('server/discover'))
      if (said.status !== 200) throw new Error(`server/discover was answered ${said.status}`)
      const ping = await served.ask(inSession(await served.session(), 'ping', {}, 1))
      if (ping.status !== 200) throw new Error(`ping was answered ${ping.status}`)
    },
  }
  return served
}

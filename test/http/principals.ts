import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { type HttpHandlerOptions, nodeHandler } from '../../src/http/handlers.ts'
import type { Principal } from '../../src/jsonrpc/channel.ts'
import type { Server } from '../../src/server/server.ts'
import { type Asking, ask, type Reply, Wire, written } from './raw.ts'
import { inSession, opening } from './requests.ts'

/** A caller, authenticated by name or anonymous. */
export interface Person {
  readonly port: number
  ask(asking: Asking): Promise<Reply>
  /** Sends a request and leaves the connection open. */
  open(asking: Asking): Promise<Wire>
  /** Opens a session and returns its id. */
  session(revision?: string): Promise<string>
}

/**
 * Serves behind an authentication layer that takes the value of the header `Authorization` for the
 * name of the caller, without any proof.
 */
export async function serveKnown(
  server: Server,
  options: HttpHandlerOptions = {},
): Promise<(name?: string) => Person> {
  const handler = nodeHandler(server, { path: '/mcp', onError: () => {}, ...options })
  const http = createServer((request: IncomingMessage & { principal?: Principal }, response) => {
    const { authorization } = request.headers
    if (authorization !== undefined) request.principal = { id: authorization }
    handler(request, response)
  })
  await new Promise<void>(resolve => void http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await handler.close({ drainMs: 0 })
    http.closeAllConnections()
    await new Promise(resolve => void http.close(resolve))
  })
  const { port } = http.address() as AddressInfo
  return name => person(port, name)
}

function person(port: number, name: string | undefined): Person {
  const as = (asking: Asking): Buffer =>
    written(port, { ...asking, headers: { ...asking.headers, authorization: name } })
  const one: Person = {
    port,
    ask: asking => ask(port, as(asking)),
    open: async asking => (await Wire.open(port)).send(as(asking)),
    session: async revision => {
      const { headers, status } = await one.ask(opening(revision))
      const id = headers.get('mcp-session-id')
      if (id === undefined) throw new Error(`no session was opened: ${status}`)
      await one.ask(inSession(id, 'notifications/initialized'))
      return id
    },
  }
  return one
}

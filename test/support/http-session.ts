import type { Accepts } from '../../src/http/server/accept.ts'
import type { HttpSession } from '../../src/http/server/sessions/session.ts'
import type { Sessions } from '../../src/http/server/sessions/sessions.ts'
import type { Principal } from '../../src/jsonrpc/channel.ts'
import { decode } from '../../src/jsonrpc/codec/decode.ts'
import type { Batch, Message, RpcRequest } from '../../src/jsonrpc/message.ts'
import { FakeReply, httpRequest } from './http.ts'

export const both: Accepts = { json: true, events: true }

/** Returns a decoded request. */
export function request(id: RpcRequest['id'], method: string, params?: object): RpcRequest {
  return { type: 'request', id, method, params: params as RpcRequest['params'] }
}

export function call(id: RpcRequest['id'], name: string, args: object = {}): RpcRequest {
  return request(id, 'tools/call', { name, arguments: args, _meta: { progressToken: 'p' } })
}

export function note(method: string, params?: object): Message {
  return { type: 'notification', method, params: params as RpcRequest['params'] }
}

interface Opening {
  readonly principal?: Principal
  readonly accepts?: Accepts
  readonly capabilities?: object
}

/** Returns the `initialize` request of a client. */
export function opening(revision = '2025-11-25', capabilities: object = {}): RpcRequest {
  return request(0, 'initialize', {
    protocolVersion: revision,
    capabilities,
    clientInfo: { name: 'test', version: '1' },
  })
}

/** A client in a session, simulated by a test. */
export interface Player {
  readonly id: string
  readonly session: HttpSession
  post(arrival: Message | Batch, accepts?: Accepts): FakeReply
  /** Sends a message given as text. */
  postText(text: string): FakeReply
  get(lastEventId?: string): FakeReply
}

/** Opens a session and sends `notifications/initialized`. */
export async function openSession(
  sessions: Sessions,
  revision?: string,
  options: Opening = {},
): Promise<Player> {
  const { principal, accepts = both, capabilities } = options
  const reply = new FakeReply()
  const message = opening(revision, capabilities)
  sessions.begin(message, httpRequest({ principal }), reply, accepts)
  await reply.answered()
  const id = reply.headers['mcp-session-id'] ?? ''
  const session = sessions.find(id, principal)
  if (session === undefined) throw new Error(`there is no session: ${reply.body}`)
  const player = playerOf(session, principal)
  await player.post(note('notifications/initialized')).answered()
  return player
}

/** Returns the client of a session that is open. */
export function playerOf(session: HttpSession, principal?: Principal): Player {
  const player: Player = {
    id: session.id,
    session,
    post: (arrival, accepted = both) => {
      const answer = new FakeReply()
      session.post(arrival, {
        request: httpRequest({ principal }),
        reply: answer,
        accepts: accepted,
      })
      return answer
    },
    postText: text => {
      const arrival = decode(text)
      if (arrival.type === 'invalid') throw new Error(arrival.detail)
      return player.post(arrival)
    },
    get: last => {
      const answer = new FakeReply()
      const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last }
      session.listen(httpRequest({ method: 'GET', headers, principal }), answer)
      return answer
    },
  }
  return player
}
